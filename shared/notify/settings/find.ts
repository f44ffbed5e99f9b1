import { type BigIntStats, statSync } from 'node:fs';
import { hasCode } from '../../errno.ts';

/**
 * The settings files that count, in the order they are laid over each other: the user's own, then the nearest
 * one at or above `startDir` (ADR-0107 D7, design 7). A nearer file hides every farther one, also when it is
 * empty. The user's own reached again from below is named once. A name that may not be looked at counts: what
 * it says is not known, and loading it will fail.
 */
export function findSettingsFiles(homeDir: string, startDir: string): string[] {
  const own = candidateIn(homeDir);
  const nearest = nearestAbove(startDir);
  const counting = [own, nearest].filter((each) => each !== null);
  return (isSameFile(own, nearest) ? counting.slice(0, 1) : counting).map(({ path }) => path);
}

interface Candidate {
  readonly path: string;
  /** Null where the system would not say. */
  readonly stat: BigIntStats | null;
}

function nearestAbove(startDir: string): Candidate | null {
  for (const dir of selfAndParents(startDir)) {
    const candidate = candidateIn(dir);
    if (candidate !== null) return candidate;
  }
  return null;
}

/**
 * As written, with no `..` folded and nothing resolved: a directory that is gone still names its parents, and
 * `link/..` is left for the system to follow.
 */
function* selfAndParents(path: string): Generator<string> {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const root = path.startsWith('/') ? '/' : '';
  for (let length = parts.length; length > 0; length--) yield root + parts.slice(0, length).join('/');
  yield root || '.';
}

function candidateIn(dir: string): Candidate | null {
  const path = `${dir === '/' ? '' : dir}/.lionagi/settings.yaml`;
  if (path.includes('\0')) return null;
  try {
    const stat = statSync(path, { bigint: true });
    return stat.isFile() ? { path, stat } : null;
  } catch (error) {
    return hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP') ? null : { path, stat: null };
  }
}

function isSameFile(one: Candidate | null, other: Candidate | null): boolean {
  if (one === null || other === null) return false;
  if (one.path === other.path) return true;
  return one.stat !== null && one.stat.dev === other.stat?.dev && one.stat.ino === other.stat.ino;
}
