import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { errnoOf, hasCode } from '../errno.ts';
import { compareBytes } from '../store/names.ts';
import { type Available, available, unavailable } from './available.ts';

/** Deeper trees, or larger ones, are not a listing any more. */
const MAX_ENTRIES = 100_000;

/**
 * Files under the run's artifacts directory as relative paths, in code point order. A
 * directory that is not there is an empty list; anything that could not be looked at makes the list unknown.
 */
export function listArtifacts(engine: Engine, runId: string): Available<string[]> {
  const root = join(engine.home.runsDir, runId, 'artifacts');
  const found: string[] = [];
  try {
    walk(root, '', found);
  } catch (error) {
    if (found.length === 0 && hasCode(error, 'ENOENT') && isAbsent(root)) return available([]);
    if (errnoOf(error) === null) throw error;
    return unavailable('unreadable', errnoOf(error) ?? 'unreadable');
  }
  return available(found.sort(compareBytes));
}

function walk(dir: string, prefix: string, found: string[]): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) walk(path, `${prefix}${entry.name}/`, found);
    else if (isFile(entry, path)) found.push(prefix + entry.name);
    if (found.length > MAX_ENTRIES) throw Object.assign(new Error('too many artifacts'), { code: 'E2BIG' });
  }
}

/** Links count as what they lead to; a directory behind a link is not walked, so no loop and no way out. */
function isFile(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = statSync(path, { throwIfNoEntry: false });
  return target?.isFile() ?? false;
}

function isAbsent(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) === undefined;
}
