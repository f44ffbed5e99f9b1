/**
 * How a run is removed, under its lock, so that a kill at any moment leaves a run that the next prune removes:
 *
 *   1. everything but job.json and job.lock   2. job.json   3. job.lock   4. the directory
 *
 * (killed between 2 and 4 it leaves an empty directory, which counts as a reservation).
 * The lock is let go and taken anew between slices of the work, and the record looked at each time, so neither
 * a writer nor an interruption waits for a large run. Nothing outside the directory is touched: links are removed
 * and not followed, and of a run that is itself a link only the link goes.
 */
import { lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errnoOf, hasCode } from '../../errno.ts';
import { type LockWait, withRunLock } from '../../lock/run-lock.ts';
import { entriesOf } from './entries.ts';
import { isAsSeen, type SeenRecord } from './look.ts';

export type Removal =
  | { readonly kind: 'removed' }
  /** The record is another than the one that was decided on, or is gone. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'interrupted' }
  /** `lock_unavailable`, `filesystem_mounted_inside` or the system's name for what went wrong. */
  | { readonly kind: 'failed'; readonly why: string };

/** Removes a run if its record is still as it was seen. */
export async function removeRun(runDir: string, seen: SeenRecord, wait: LockWait): Promise<Removal> {
  for (;;) {
    const locked = await withRunLock(runDir, wait, () => unlessItFails(() => removeSome(runDir, seen)));
    if (locked.kind === 'absent') return unlessItFails(() => removeDangling(runDir));
    if (locked.kind === 'refused') return wait.signal.aborted ? INTERRUPTED : LOCK_UNAVAILABLE;
    if (locked.value.kind !== 'more') return locked.value;
    await nextTurn();
    if (wait.signal.aborted) return INTERRUPTED;
  }
}

const REMOVED = { kind: 'removed' } as const;
const CHANGED = { kind: 'changed' } as const;
const MORE = { kind: 'more' } as const;
const INTERRUPTED = { kind: 'interrupted' } as const;
const LOCK_UNAVAILABLE = { kind: 'failed', why: 'lock_unavailable' } as const;

/** A mount is somebody's directory that happens to be seen here. */
class MountedInside extends Error {
  override readonly name = 'MountedInside';
}

function unlessItFails<T>(work: () => T): T | Extract<Removal, { kind: 'failed' }> {
  try {
    return work();
  } catch (error) {
    if (error instanceof MountedInside) return { kind: 'failed', why: 'filesystem_mounted_inside' };
    const code = errnoOf(error);
    if (code === null) throw error;
    return { kind: 'failed', why: code };
  }
}

/** Neither the loop nor the lock is held for longer; something is removed in each of them. */
const SLICE_MS = 25;

function removeSome(runDir: string, seen: SeenRecord): typeof REMOVED | typeof CHANGED | typeof MORE {
  if (!isAsSeen(runDir, seen)) return CHANGED;
  const sliceEndsMs = performance.now() + SLICE_MS;
  const isOver = (): boolean => performance.now() > sliceEndsMs;
  const stat = lstatSync(runDir);
  if (stat.isSymbolicLink()) unlinkSync(runDir);
  else if (empty(Buffer.from(runDir), stat.dev, LAST, isOver)) removeLast(runDir);
  else return MORE;
  return REMOVED;
}

const LAST = ['job.json', 'job.lock'];
/** What is removed between two readings of a directory: not all systems let one be read on while it changes. */
const BATCH = 500;

/** False where there was no time for all of it. */
function empty(directory: Buffer, device: number, kept: readonly string[], isOver: () => boolean): boolean {
  for (let batch = someIn(directory, kept); batch.length > 0; batch = someIn(directory, kept)) {
    for (const path of batch) {
      const stat = lstatSync(path);
      if (!stat.isDirectory()) {
        unlinkSync(path);
      } else {
        if (stat.dev !== device) throw new MountedInside();
        if (!empty(path, device, [], isOver)) return false;
        rmdirSync(path);
      }
      if (isOver()) return false;
    }
  }
  return true;
}

function someIn(directory: Buffer, kept: readonly string[]): Buffer[] {
  const batch: Buffer[] = [];
  for (const path of entriesOf(directory)) {
    // A directory in the place of a record is as good as any other.
    const isKept = kept.includes(basename(path.toString())) && !lstatSync(path).isDirectory();
    if (!isKept) batch.push(path);
    if (batch.length === BATCH) break;
  }
  return batch;
}

/** A writer that comes too late makes job.lock anew and finds no record. */
const LATE_WRITERS = 10;

function removeLast(runDir: string): void {
  unlinkIfThere(join(runDir, 'job.json'));
  for (let attempt = 1; ; attempt++) {
    unlinkIfThere(join(runDir, 'job.lock'));
    try {
      rmdirSync(runDir);
      return;
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST') || attempt === LATE_WRITERS) throw error;
    }
  }
}

/** Where a link leads nowhere there is nothing to lock. */
function removeDangling(runDir: string): typeof REMOVED | typeof CHANGED {
  if (lstatSync(runDir, { throwIfNoEntry: false }) === undefined) return CHANGED;
  unlinkSync(runDir);
  return REMOVED;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
