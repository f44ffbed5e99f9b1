/**
 * A step of the build: runs `lion job list` on a store with nothing in it and keeps the code that V8 made of the
 * bundle, with the functions that nearly every call needs, for `start.ts`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './bundle.ts';

const [dist = ''] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), 'lion-build-'));
process.env.LIONAGI_HOME = home;
process.argv.splice(2, process.argv.length, '--machine', 'job', 'list');
const script = load(join(dist, 'lion.js'));
process.on('exit', () => {
  rmSync(home, { recursive: true });
  writeFileSync(join(dist, 'lion.code'), script.createCachedData());
});
