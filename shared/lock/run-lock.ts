/**
 * The lock every writer of a record takes, Python's and ours: flock(2) LOCK_EX on `<run dir>/job.lock`.
 * The file is made if missing (0600), deleted only with its run, and a lock never makes a run directory.
 * Work under it is synchronous: no delivery, spawn, probe or network fits in (design 4).
 */
import { closeSync, constants, fchownSync, fstatSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EnvironmentFault } from '../environment-fault.ts';
import { errnoOf } from '../errno.ts';
import { sleep } from '../time/sleep.ts';

export type Locked<T> =
  | { readonly kind: 'held'; readonly value: T }
  /** The run has no directory: a settled fact, unlike a refusal. */
  | { readonly kind: 'absent' }
  /** Nothing was read or written; the next observation retries. */
  | { readonly kind: 'refused'; readonly message: string };

export interface LockWait {
  /** 0 tries once. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

const OPEN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK;

/** Growing pauses starve against a busy Python writer (p95 1.2 s, fixed ones 0.12 s): keep them fixed. */
const FIRST_PAUSE_MS = 1;
const LATER_PAUSE_MS = 5;
const FIRST_PHASE_MS = 100;

/** Runs `work` holding the run's lock, or says why it could not. Throws only what `work` throws. */
export async function withRunLock<T>(runDir: string, wait: LockWait, work: () => T): Promise<Locked<T>> {
  const flock = await loadFlock();
  if (typeof flock === 'string') return refused(flock);
  const started = performance.now();
  while (true) {
    const opened = open(runDir);
    if (typeof opened !== 'number') return opened;
    try {
      const attempt = flock.tryExclusive(opened);
      if (attempt === 'taken' && stillThere(runDir, opened)) return { kind: 'held', value: work() };
      if (typeof attempt === 'object') return refused(`job.lock cannot be locked: ${attempt.failed}`);
    } finally {
      closeSync(opened);
    }
    const elapsedMs = performance.now() - started;
    if (elapsedMs >= wait.waitMs) return refused(`job.lock was not free within ${wait.waitMs} ms`);
    if (wait.signal.aborted) return refused('interrupted while waiting for job.lock');
    await sleep(elapsedMs < FIRST_PHASE_MS ? FIRST_PAUSE_MS : LATER_PAUSE_MS, wait.signal);
  }
}

/**
 * For a command that must not begin what it cannot record (design 9).
 * @throws EnvironmentFault where this installation cannot take a lock at all.
 */
export async function requireLock(): Promise<void> {
  const flock = await loadFlock();
  if (typeof flock === 'string') throw new EnvironmentFault(flock);
}

async function loadFlock(): Promise<typeof import('./flock.ts') | string> {
  try {
    return await import('./flock.ts');
  } catch (error) {
    return `the lock binding cannot be loaded: ${messageOf(error)}`;
  }
}

function open(runDir: string): number | Locked<never> {
  const path = join(runDir, 'job.lock');
  try {
    const strangers = isStrangers(runDir);
    const fd = openSync(path, OPEN_FLAGS | (strangers ? constants.O_NOFOLLOW : 0), 0o600);
    if (strangers) giveToOwner(fd, runDir);
    return fd;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && statSync(runDir, { throwIfNoEntry: false }) === undefined)
      return { kind: 'absent' };
    return refused(`job.lock cannot be opened: ${errnoOf(error) ?? messageOf(error)}`);
  }
}

/**
 * Root at work in a user's run: a link the user put there is not followed, or root would make a file for them,
 * or give one away, wherever it leads.
 */
function isStrangers(runDir: string): boolean {
  return process.getuid?.() === 0 && (statSync(runDir, { throwIfNoEntry: false })?.uid ?? 0) !== 0;
}

/** Root making the lock in a user's run must not lock the user out. */
function giveToOwner(fd: number, runDir: string): void {
  const owner = statSync(runDir);
  const lock = fstatSync(fd);
  if (lock.isFile() && lock.size === 0 && lock.uid === 0) fchownSync(fd, owner.uid, owner.gid);
}

/** A directory pruned and made anew while we waited has another lock file than the one we hold. */
function stillThere(runDir: string, fd: number): boolean {
  const held = fstatSync(fd, { bigint: true });
  const named = statSync(join(runDir, 'job.lock'), { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === held.ino && named.dev === held.dev;
}

function refused(message: string): Locked<never> {
  return { kind: 'refused', message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
