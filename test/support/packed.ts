import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MODULES } from './bundle.ts';
import type { Shelf } from './package-shelf.ts';
import type { World } from './world.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a clean clone has not, and the tests. */
const LEFT_OUT = /^(\.git|node_modules|dist|coverage|test)$|\.tgz$/;
const NODE_DIR = dirname(process.execPath);

/** What `npm pack` says of the tarball it made. */
export interface Packed {
  readonly file: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number; readonly mode: number }[];
}

/**
 * Packs a copy of what a clean clone has, which is built by `prepack`, so that `dist` here is left alone.
 * @param version instead of the one of package.json.
 */
export async function pack(world: World, version?: string): Promise<Packed> {
  const clone = join(world.root, `clone-${version ?? 'now'}`);
  mkdirSync(clone);
  const kept = readdirSync(ROOT).filter((name) => !LEFT_OUT.test(name));
  for (const name of kept) cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  symlinkSync(MODULES, join(clone, 'node_modules'));
  if (version !== undefined) {
    const manifest = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ ...manifest, version }));
  }
  const said = await npm(world, ['pack', '--json', '--pack-destination', world.work], clone);
  const [made] = JSON.parse(said);
  return { ...made, file: join(world.work, made.filename) };
}

export interface Installed {
  readonly prefix: string;
  readonly lion: string;
  readonly liond: string;
  /** The package itself. */
  readonly home: string;
}

/** `npm install --global` of a tarball into a prefix, from the shelf alone. */
export async function installGlobally(
  world: World,
  packed: Packed,
  prefix: string,
  shelf: Shelf,
  flags: readonly string[] = [],
): Promise<Installed> {
  await npm(world, ['install', '-g', '--prefix', prefix, `--registry=${shelf.url}`, ...flags, packed.file]);
  const bin = join(prefix, 'bin');
  return {
    prefix,
    lion: join(bin, 'lion'),
    liond: join(bin, 'liond'),
    home: join(prefix, 'lib', 'node_modules', 'liond'),
  };
}

/** npm with nobody's configuration and a cache of its own. */
export async function npm(world: World, args: readonly string[], cwd = world.cwd): Promise<string> {
  const cache = join(world.root, 'npm-cache');
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', `--cache=${cache}`];
  return run('npm', [...args, ...quiet], {
    cwd,
    env: { ...world.env, PATH: `${NODE_DIR}:${world.env.PATH}` },
  });
}

async function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { ...options, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
