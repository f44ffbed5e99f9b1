import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasCode } from '../../errno.ts';

const BLOCK_BYTES = 512;
/** The loop is not held for longer. */
const SLICE_MS = 10;

/**
 * What a file or directory takes on its disk, in bytes, all of it together: sparse files take what is written of
 * them, links are not followed, and a file of several names counts once in all that is counted with the same
 * `counted`. What cannot be looked into counts by itself alone. Ends early where the signal is aborted.
 */
export async function allocatedBytes(
  path: string,
  signal: AbortSignal,
  counted = new Set<string>(),
): Promise<number> {
  let sliceEndsMs = performance.now() + SLICE_MS;
  const waiting = [path];
  let bytes = 0;
  for (let next = waiting.pop(); next !== undefined && !signal.aborted; next = waiting.pop()) {
    if (performance.now() > sliceEndsMs) {
      await nextTurn();
      sliceEndsMs = performance.now() + SLICE_MS;
    }
    const stat = statOf(next);
    if (stat === null) continue;
    const isAnotherName = stat.nlink > 1 && !stat.isDirectory() && counted.has(`${stat.dev}.${stat.ino}`);
    if (stat.nlink > 1) counted.add(`${stat.dev}.${stat.ino}`);
    if (!isAnotherName) bytes += stat.blocks * BLOCK_BYTES;
    if (stat.isDirectory()) for (const name of namesIn(next)) waiting.push(join(next, name));
  }
  return bytes;
}

/** It may be removed while it is counted, and what is hidden from us is not for us to count. */
const EXPECTED = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'EIO', 'ESTALE', 'ELOOP'];

function statOf(path: string) {
  try {
    return lstatSync(path);
  } catch (error) {
    if (!hasCode(error, ...EXPECTED)) throw error;
    return null;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (!hasCode(error, ...EXPECTED)) throw error;
    return [];
  }
}
