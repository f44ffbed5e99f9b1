// Writes dist/THIRD-PARTY.txt: the licence of every package of which a bundle holds a part, as those licences
// ask of whoever passes the code on. Reads the metafiles of the build and takes them away.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const METAFILES = ['dist/cli.meta.json', 'dist/daemon.meta.json'];

const inputs = METAFILES.flatMap((file) => Object.keys(JSON.parse(readFileSync(file, 'utf8')).inputs));
const directories = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
const texts = [...new Set(directories)].sort().map(licenceOf);
writeFileSync('dist/THIRD-PARTY.txt', `Parts of these packages are in dist/.\n\n${texts.join('\n')}`);
for (const file of METAFILES) rmSync(file);

function licenceOf(directory) {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const file = readdirSync(directory).find((each) => /^licen[cs]e\b/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `==== ${name} ${version} (${license})\n\n${readFileSync(join(directory, file), 'utf8').trim()}\n`;
}
