import { dirname, isAbsolute, join } from 'node:path';

/** A path for a service definition, and whether an upgrade leaves it in place. */
export interface ChosenPath {
  readonly path: string;
  readonly lasting: boolean;
}

/**
 * The first lasting path among those that lead to this very file; where there is none, the file's own.
 * @param leadsThere whether a candidate, links followed, is the file
 */
export function choosePath(
  real: string,
  candidates: readonly string[],
  leadsThere: (path: string) => boolean,
): ChosenPath {
  const path = candidates.find((each) => isLasting(each) && leadsThere(each));
  return path === undefined ? { path: real, lasting: isLasting(real) } : { path, lasting: true };
}

/** A version in a name (`v20.11.0`, `liond@0.1.0`) goes with the next upgrade; a temporary place even sooner. */
export function isLasting(path: string): boolean {
  return !HAS_VERSION.test(path) && !isTemporary(path);
}

const HAS_VERSION = /\d+\.\d+\.\d+|\/Cellar\//;

function isTemporary(path: string): boolean {
  return /^\/(private\/)?(var\/)?(tmp|folders)\/|^\/run\/user\/|\/fnm_multishells\//.test(path);
}

/** In the order of preference: where a shell finds it, then where installers put a lasting name for it. */
export function nodeCandidates(real: string, path: string | undefined, userDir: string): string[] {
  return [
    ...directoriesOf(path).map((dir) => join(dir, 'node')),
    ...brewNames(real),
    '/usr/bin/node',
    '/usr/local/bin/node',
    '/opt/homebrew/bin/node',
    join(userDir, '.nvm', 'current', 'bin', 'node'),
    join(userDir, '.local', 'share', 'fnm', 'aliases', 'default', 'bin', 'node'),
  ];
}

/** The package's own place first, then pnpm's and Homebrew's names for it, then the command on the PATH. */
export function scriptCandidates(real: string, path: string | undefined): string[] {
  return [
    real,
    real.replace(/\/\.pnpm\/[^/]+\/node_modules\//, '/node_modules/'),
    ...brewNames(real),
    ...directoriesOf(path).map((dir) => join(dir, 'liond')),
  ];
}

/** `PREFIX/opt/FORMULA` leads to whatever version is in `PREFIX/Cellar/FORMULA`. */
function brewNames(real: string): string[] {
  return /\/Cellar\/[^/]+\/[^/]+\//.test(real)
    ? [real.replace(/\/Cellar\/([^/]+)\/[^/]+\//, '/opt/$1/')]
    : [];
}

/** Packages that `npx` fetched are cleaned away by themselves. */
export function isThrowaway(script: string): boolean {
  return /\/_npx\//.test(script);
}

/** What every system has, for the programs of a notifier. */
const SYSTEM_DIRECTORIES = ['/usr/local/bin', '/usr/bin', '/bin'];

/**
 * The PATH for the service: the shell's, without what only this shell or directory has, then the directory of
 * node (a script that begins with `env node` needs it) and the system's own.
 */
export function servicePath(path: string | undefined, node: string): string {
  const lasting = directoriesOf(path).filter((dir) => !OF_THIS_SHELL.test(`${dir}/`));
  return [...new Set([...lasting, dirname(node), ...SYSTEM_DIRECTORIES])].join(':');
}

/** Of a version manager's session, and of `npm run` and `npx`. */
const OF_THIS_SHELL =
  /^\/run\/user\/|\/fnm_multishells\/|\/_npx\/|\/node_modules\/\.bin\/$|\/node-gyp-bin\/$/;

/** A relative directory means another one for a service. */
function directoriesOf(path: string | undefined): string[] {
  return (path ?? '').split(':').filter(isAbsolute);
}
