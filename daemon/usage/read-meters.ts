/**
 * pidusage as a plain reader. Left to itself it keeps, for each process it ever saw, a history and on Linux an
 * open descriptor: for a minute after the last look, for good where the process ended while it was first looked
 * at, and for good after its `clear()`, which forgets the descriptors and does not close them. So nothing is
 * kept from one call to the next: what it left open is closed here, then its history is cleared. Its CPU
 * percentage stands on that history, is 0 at the first look on Linux, and is not used. Its first call of all starts
 * `getconf` twice, for the clock and the page size; no other starts a child on Linux.
 */
import { closeSync, readdirSync, readlinkSync } from 'node:fs';
import pLimit from 'p-limit';
import pidusage from 'pidusage';
import { hasCode } from '../../shared/errno.ts';

export interface Meter {
  /** CPU time since the process began, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** Since the process began; whole seconds on macOS. */
  readonly ageMs: number;
  /** On the clock of `performance.now()`. */
  readonly readMs: number;
}

/** On Linux that many descriptors are open at once; elsewhere one call is one child. */
const PIDS_AT_ONCE = process.platform === 'linux' ? 100 : Number.MAX_SAFE_INTEGER;
/** No entry of its history, and with it a descriptor in use, may expire under a call. */
const HISTORY_MS = 24 * 60 * 60 * 1000;
/** A second call would have its descriptors closed by the first. */
const alone = pLimit(1);

/** A process that went away, or may not be read, is left out. After an abort no more are read. */
export function readMeters(
  pids: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Meter>> {
  return alone(async () => {
    const meters = new Map<number, Meter>();
    for (let at = 0; at < pids.length && !signal.aborted; at += PIDS_AT_ONCE) {
      await readSome(pids.slice(at, at + PIDS_AT_ONCE), meters);
    }
    return meters;
  });
}

async function readSome(pids: readonly number[], meters: Map<number, Meter>): Promise<void> {
  const stats = await ask(pids);
  const readMs = performance.now();
  for (const pid of pids) {
    const stat = stats[pid];
    // A process without memory has ended, and only waits to be collected.
    if (stat && stat.memory > 0) {
      meters.set(pid, { cpuMs: stat.ctime, rssBytes: stat.memory, ageMs: stat.elapsed, readMs });
    }
  }
}

/** Null stands for a process that could not be read. */
async function ask(pids: readonly number[]): Promise<Readonly<Record<string, pidusage.Status | null>>> {
  try {
    return await pidusage([...pids], { usePs: false, maxage: HISTORY_MS });
  } catch (error) {
    // Said of one alone, or by ps of all.
    if (!hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) throw error;
    return {};
  } finally {
    if (process.platform === 'linux') closeDescriptors(pids);
    pidusage.clear();
  }
}

function closeDescriptors(pids: readonly number[]): void {
  const left = new Set(pids.map((pid) => `/proc/${pid}/stat`));
  for (const name of readdirSync('/proc/self/fd')) {
    if (left.has(fileOf(name))) closeSync(Number(name));
  }
}

function fileOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).replace(/ \(deleted\)$/, '');
  } catch (error) {
    // The one the listing itself was made through is closed by now.
    if (!hasCode(error, 'ENOENT')) throw error;
    return '';
  }
}
