import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endLeftovers, type Leftover, leftoversOf } from './leftovers.ts';

/** A home and a store of their own in a temporary directory, and the environment that names them. */
export interface World {
  root: string;
  home: string;
  lionagiHome: string;
  jobs: string;
  /** The directory the call is made from. */
  cwd: string;
  bin: string;
  work: string;
  /** All a call gets of the environment. */
  env: Record<string, string>;
  /** Something to end with the world; the last one first. */
  onDispose: (end: () => Promise<void> | void) => void;
  /** Ends what was started, removes the directory and returns the processes that calls had left behind. */
  dispose: () => Promise<Leftover[]>;
}

export interface WorldOptions {
  /** Where LIONAGI_HOME is: `.lionagi` of the home, as by default in life, or a directory beside the home. */
  lionagiHome?: 'in_home' | 'beside_home';
}

export async function makeWorld(options: WorldOptions = {}): Promise<World> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'lion-world-')));
  await chmod(root, 0o755);
  const home = join(root, 'home');
  // Beside the home it must not be found as a project's own `.lionagi` by walking up from the cwd.
  const lionagiHome = options.lionagiHome === 'beside_home' ? join(root, 'lionagi') : join(home, '.lionagi');
  const [cwd, bin, work] = [join(root, 'cwd'), join(root, 'bin'), join(root, 'work')];
  for (const directory of [home, lionagiHome, cwd, bin, work]) await mkdir(directory);
  const ends: (() => Promise<void> | void)[] = [];
  return {
    root,
    home,
    lionagiHome,
    jobs: join(lionagiHome, 'mcp', 'jobs'),
    cwd,
    bin,
    work,
    env: { PATH: '/usr/bin:/bin', HOME: home, LIONAGI_HOME: lionagiHome, LANG: 'C.UTF-8' },
    onDispose: (end) => void ends.push(end),
    dispose: () => dispose(root, ends),
  };
}

async function dispose(root: string, ends: (() => Promise<void> | void)[]): Promise<Leftover[]> {
  for (const end of ends.reverse()) await end();
  const left = await leftoversOf(root);
  endLeftovers(left);
  await rm(root, { recursive: true, force: true });
  return left;
}
