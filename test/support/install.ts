import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LION_MAIN } from './lion.ts';
import type { World } from './world.ts';

const DIST = dirname(dirname(LION_MAIN));
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** A copy of what is built, with the modules it needs at run time beside it. */
export interface Installation {
  readonly lion: string;
  readonly liond: string;
  readonly dist: string;
  /** Every file but the two programs' first ones, relative to `dist`. */
  readonly parts: string[];
}

/** @param without names of modules that are missing from it. */
export function installInto(world: World, name: string, without: readonly string[] = []): Installation {
  const root = join(world.root, name);
  const dist = join(root, 'dist');
  cpSync(DIST, dist, { recursive: true });
  mkdirSync(join(root, 'node_modules'));
  for (const module of ['koffi', 'pino', 'better-sqlite3']) {
    if (!without.includes(module)) symlinkSync(join(MODULES, module), join(root, 'node_modules', module));
  }
  const [lion, liond] = [join(dist, 'cli', 'main.js'), join(dist, 'daemon', 'main.js')];
  const parts = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)))
    .filter((part) => ![lion, liond].includes(join(dist, part)));
  return { lion, liond, dist, parts };
}

/** For `runLion`: calls the `lion` of this installation instead of the built one. */
export function through(installation: Installation): { through: string[] } {
  return { through: ['/bin/sh', '-c', `shift; exec "$0" '${installation.lion}' "$@"`] };
}
