import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { errnoOf } from '../errno.ts';
import type { Json } from '../json/value.ts';
import { isBeyondHorizon } from '../notify/horizon.ts';
import { resolveNotifier } from '../notify/notifier.ts';
import { type OwedNotice, owedAfterGrace } from '../notify/owed.ts';
import type { RecordRead } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { parseIso } from '../time/iso.ts';

/**
 * What an observer that is about to write an end owes: nothing without a notifier, nothing for old history.
 * `after`: for a reap at once; for an end the child's own hook may still report, after its grace.
 */
export async function owedByObserver(
  engine: Engine,
  runId: string,
  read: Extract<RecordRead, { state: 'ok' }>,
  seenAlive: boolean,
  after: 'at_once' | 'hook_grace',
): Promise<OwedNotice> {
  const record = read.object.value;
  const notifier = await resolveNotifier(engine, runId, record);
  if (notifier.kind === 'none') return { owed: false };
  const signs = {
    submittedAtMs: timeOf(record.get('submitted_at')),
    logMtimeMs: logMtimeMs(record.get('log'), join(runDirOf(engine.home, runId), 'console.log')),
    recordMtimeMs: read.stat.mtimeMs,
    seenAlive,
  };
  if (isBeyondHorizon(signs, engine.now())) return { owed: false, skipped: 'beyond_horizon' };
  return after === 'at_once' ? { owed: true } : owedAfterGrace(engine.now());
}

function timeOf(value: Json | undefined): number | null {
  return typeof value === 'string' ? parseIso(value) : null;
}

function logMtimeMs(log: Json | undefined, usual: string): number | null {
  try {
    return statSync(typeof log === 'string' && log !== '' ? log : usual).mtimeMs;
  } catch (error) {
    // A log that is not there, or a name that can be none, is no sign of life.
    if (errnoOf(error) === null && !(error instanceof TypeError)) throw error;
    return null;
  }
}
