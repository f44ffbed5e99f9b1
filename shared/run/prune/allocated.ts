import { lstatSync, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasCode } from '../../errno.ts';
import { entriesOf } from './entries.ts';

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
  let bytes = 0;
  for (const stat of statsUnder(Buffer.from(path))) {
    if (performance.now() > sliceEndsMs) {
      await nextTurn();
      sliceEndsMs = performance.now() + SLICE_MS;
    }
    if (signal.aborted) break;
    const isAnotherName = stat.nlink > 1 && !stat.isDirectory() && counted.has(`${stat.dev}.${stat.ino}`);
    if (stat.nlink > 1) counted.add(`${stat.dev}.${stat.ino}`);
    if (!isAnotherName) bytes += stat.blocks * BLOCK_BYTES;
  }
  return bytes;
}

function* statsUnder(path: Buffer): Generator<Stats, void> {
  const stat = statOf(path);
  if (stat === null) return;
  yield stat;
  // One listing is open at a time, however deep it goes: descriptors are few.
  const directories = stat.isDirectory() ? [path] : [];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    for (const entry of visibleIn(next)) {
      const inside = statOf(entry);
      if (inside === null) continue;
      if (inside.isDirectory()) directories.push(entry);
      yield inside;
    }
  }
}

/** It may be removed while it is counted, and what is hidden from us is not for us to count. */
const EXPECTED = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ENAMETOOLONG', 'EIO', 'ESTALE', 'ELOOP'];

function statOf(path: Buffer): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (!hasCode(error, ...EXPECTED)) throw error;
    return null;
  }
}

function* visibleIn(directory: Buffer): Generator<Buffer, void> {
  try {
    yield* entriesOf(directory);
  } catch (error) {
    if (!hasCode(error, ...EXPECTED)) throw error;
  }
}
