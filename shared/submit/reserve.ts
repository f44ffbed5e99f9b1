import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hasCode } from '../errno.ts';
import { type Home, runDirOf } from '../store/home.ts';

const ATTEMPTS = 20;

/**
 * A new run id with its directory, made exclusively before anything else of the run is: two submitters never
 * share one (ADR-0106 D5).
 * @throws the system's error where no directory can be made.
 */
export function reserveRun(home: Home, nowMs: number): string {
  mkdirSync(home.jobsDir, { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt++) {
    const runId = `${stamp(nowMs)}-${randomBytes(3).toString('hex')}`;
    try {
      mkdirSync(runDirOf(home, runId), { mode: 0o700 });
      return runId;
    } catch (error) {
      if (!hasCode(error, 'EEXIST') || attempt === ATTEMPTS) throw error;
    }
  }
}

/** `YYYYMMDDTHHMMSS` in UTC. */
function stamp(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
}
