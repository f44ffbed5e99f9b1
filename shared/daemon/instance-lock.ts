/**
 * One supervisor a store: flock(2) LOCK_EX on `<state dir>/instance.lock`, held for the supervisor's life.
 *
 * The kernel lets go of it with the process, so kill -9 leaves nothing that blocks. The file is made if missing
 * (0600), never deleted. What it says, `{pid, version, started_at}`, is for people and decides nothing: a number
 * of a dead supervisor may by now be another program's.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../errno.ts';
import { requireLock } from '../lock/run-lock.ts';
import { sleep } from '../time/sleep.ts';

/** As the holder wrote it; null what cannot be read. */
export interface InstanceNote {
  readonly pid: number | null;
  readonly version: string | null;
  /** ISO-8601 UTC. */
  readonly startedAt: string | null;
}

export interface InstanceLock {
  /** False where the file at the path is gone or another one: a second supervisor could take that. */
  isStillOurs(): boolean;
  release(): void;
}

export interface InstanceWait {
  /** 0 tries once. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** A `lion daemon status` that looks at the lock must not turn a start away. */
export const INSTANCE_WAIT_MS = 1_000;
const PAUSE_MS = 10;
const MAX_NOTE_BYTES = 4096;

/**
 * Takes the lock and writes the note into it, or tells who holds it.
 * @throws EnvironmentFault where this installation cannot lock at all, else the system's error.
 */
export async function takeInstanceLock(
  stateDir: string,
  note: InstanceNote,
  wait: InstanceWait,
): Promise<{ readonly taken: InstanceLock } | { readonly heldBy: InstanceNote }> {
  await requireLock();
  const { tryExclusive } = await import('../lock/flock.ts');
  const path = lockPathOf(stateDir);
  const startedMs = performance.now();
  for (;;) {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
    const heldBy = closingOnThrow(fd, () => {
      if (!takenOf(tryExclusive(fd)) || !isAt(path, fd)) return readNote(fd);
      writeNote(fd, note);
      return null;
    });
    if (heldBy === null)
      return { taken: { isStillOurs: () => isAt(path, fd), release: () => closeSync(fd) } };
    closeSync(fd);
    if (performance.now() - startedMs >= wait.waitMs || wait.signal.aborted) return { heldBy };
    await sleep(PAUSE_MS, wait.signal);
  }
}

/**
 * Whether a supervisor runs, by the lock alone, and what its file says of it.
 * @throws EnvironmentFault where this installation cannot lock at all, else the system's error.
 */
export async function lookAtInstance(
  stateDir: string,
): Promise<{ readonly running: false } | ({ readonly running: true } & InstanceNote)> {
  await requireLock();
  const { tryShared } = await import('../lock/flock.ts');
  const fd = openExisting(lockPathOf(stateDir));
  if (fd === null) return { running: false };
  try {
    return takenOf(tryShared(fd)) ? { running: false } : { running: true, ...readNote(fd) };
  } finally {
    closeSync(fd);
  }
}

function lockPathOf(stateDir: string): string {
  return join(stateDir, 'instance.lock');
}

function closingOnThrow<T>(fd: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** @throws where the file cannot be locked by anyone (no locks on that filesystem). */
function takenOf(attempt: 'taken' | 'busy' | { readonly failed: string }): boolean {
  if (typeof attempt === 'object')
    throw Object.assign(new Error('instance.lock cannot be locked'), { code: attempt.failed });
  return attempt === 'taken';
}

function openExisting(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    return null;
  }
}

function isAt(path: string, fd: number): boolean {
  const held = fstatSync(fd, { bigint: true });
  const named = statSync(path, { bigint: true, throwIfNoEntry: false });
  return named !== undefined && named.ino === held.ino && named.dev === held.dev;
}

/** In place: a rename would leave the lock on a file that is no longer there. */
function writeNote(fd: number, note: InstanceNote): void {
  const text = JSON.stringify({ pid: note.pid, version: note.version, started_at: note.startedAt });
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${text}\n`, 0);
  } catch (error) {
    // The lock is held whatever a full disk leaves unsaid.
    if (!hasCode(error, 'ENOSPC', 'EDQUOT', 'EIO')) throw error;
  }
}

function readNote(fd: number): InstanceNote {
  const buffer = Buffer.alloc(MAX_NOTE_BYTES);
  const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, MAX_NOTE_BYTES, 0));
  const { pid, version, started_at } = objectIn(text);
  return {
    pid: Number.isSafeInteger(pid) ? (pid as number) : null,
    version: typeof version === 'string' ? version : null,
    startedAt: typeof started_at === 'string' ? started_at : null,
  };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {};
  }
}
