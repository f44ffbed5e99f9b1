import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, hasCode } from '../../errno.ts';
import { readBytes } from '../../process/proc-files.ts';
import { readBounded, UnusableFile } from '../../record/read.ts';
import type { Env, Home } from '../../store/home.ts';

/** A running supervisor's own environment and pid; or, in words, why it cannot be had. */
export type Running = { readonly env: Env; readonly pid: number } | { readonly fault: string };

/** Null where no supervisor runs over this store: its lock is free, or was never made. */
export async function supervisorEnvironment(home: Home): Promise<Running | null> {
  const path = join(home.stateDir, 'instance.lock');
  try {
    if (!(await isHeld(path))) return null;
    const pid = pidIn(readBounded(path, MAX_LOCK_BYTES).bytes.toString('utf8'));
    return pid === null ? { fault: `${path} names no process` } : environmentOf(pid);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    if (!(error instanceof UnusableFile) && errnoOf(error) === null) throw error;
    return { fault: `${path} cannot be read: ${errnoOf(error) ?? (error as Error).message}` };
  }
}

const MAX_LOCK_BYTES = 4 * 1024;

/** A pid in a file that nobody holds may be anybody's by now. */
async function isHeld(path: string): Promise<boolean> {
  const { tryExclusive } = await import('../../lock/flock.ts');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return tryExclusive(fd) === 'busy';
  } finally {
    closeSync(fd);
  }
}

function pidIn(text: string): number | null {
  const pid = /"pid"\s*:\s*(\d+)/.exec(text)?.[1];
  return pid === undefined ? null : Number(pid);
}

function environmentOf(pid: number): Running {
  const bytes = readBytes(`/proc/${pid}/environ`);
  if (typeof bytes === 'string') return { fault: `the environment of process ${pid} is ${bytes}` };
  const entries = bytes
    .toString('utf8')
    .split('\0')
    .map((entry) => /^([^=]+)=([\s\S]*)$/.exec(entry))
    .filter((match) => match !== null)
    .map(([, name, value]) => [name, value]);
  return { env: Object.fromEntries(entries), pid };
}
