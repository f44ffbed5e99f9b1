import pLimit from 'p-limit';
import { LionError } from '../contract/errors.ts';
import { recordError } from '../contract/record-errors.ts';
import type { Engine } from '../engine.ts';
import { runDirOf } from '../store/home.ts';
import { resolveRunId } from '../store/run-id.ts';
import { sleep } from '../time/sleep.ts';
import { type Bucket, bucketOf } from './partition.ts';
import { ONE_RUN_BOUNDS, type RunStatus, recordOf, statusOf } from './status.ts';
import { watchRuns } from './wake.ts';

export interface WaitRequest {
  /** As the caller gave them; what is no text is a per-id error. */
  readonly ids: readonly unknown[];
  /** Seconds, clamped already. */
  readonly maxWaitS: number;
  readonly pollIntervalS: number;
  /** Return at the first end instead of the last. */
  readonly any: boolean;
}

export interface WaitEntry {
  readonly id: unknown;
  readonly status: RunStatus | null;
  readonly bucket: Bucket | 'error';
  readonly error: LionError | null;
}

export interface WaitResult {
  /** One for each requested id, in input order. */
  readonly entries: readonly WaitEntry[];
  /** The window closed while a run that could still end was open. */
  readonly timedOut: boolean;
}

const CONCURRENCY = 8;

/**
 * Bounded observation (ADR-0106 D10). Returns when nothing that is observed can change by waiting, or when the
 * window closes. A call that would return at once with a stopped run in it first spends one poll interval, so
 * that a caller without a pause of its own does not spin.
 */
export async function waitForRuns(engine: Engine, request: WaitRequest): Promise<WaitResult> {
  const started = performance.now();
  const remainingMs = (): number => request.maxWaitS * 1000 - (performance.now() - started);
  const seenAlive = new Set<string>();
  // Watched before the first look: an end written in between then shows as a change.
  const wake = watchRuns(request.ids.flatMap((id) => runDirFor(engine, id)));
  let waited = false;
  try {
    let entries = await observeRuns(engine, request.ids, seenAlive);
    while (!engine.signal.aborted && remainingMs() > 0) {
      const settled = isSettled(entries, request.any);
      if (settled && (waited || !hasStopped(entries))) break;
      const pauseMs = Math.min(request.pollIntervalS * 1000, remainingMs());
      // The floor is a floor: a change does not cut it short, as it does a wait for an end.
      await (settled ? sleep(pauseMs, engine.signal) : wake.next(pauseMs, engine.signal));
      waited = true;
      entries = await observeRuns(engine, request.ids, seenAlive);
    }
    const pending = entries.some((entry) => entry.bucket === 'pending');
    return { entries, timedOut: pending && !isAnyDone(entries, request) };
  } finally {
    wake.close();
  }
}

function isSettled(entries: readonly WaitEntry[], any: boolean): boolean {
  if (any && entries.some((entry) => entry.bucket === 'terminal')) return true;
  return entries.every((entry) => entry.bucket !== 'pending');
}

function isAnyDone(entries: readonly WaitEntry[], request: WaitRequest): boolean {
  return request.any && entries.some((entry) => entry.bucket === 'terminal');
}

function hasStopped(entries: readonly WaitEntry[]): boolean {
  return entries.some(
    (entry) => entry.bucket === 'stopped_without_end' || entry.bucket === 'unresolved_spawn',
  );
}

/** One look at each run, without waiting; `seenAlive` is kept from look to look. */
export async function observeRuns(
  engine: Engine,
  ids: readonly unknown[],
  seenAlive: Set<string>,
): Promise<WaitEntry[]> {
  const limit = pLimit(CONCURRENCY);
  return Promise.all(ids.map((id) => limit(() => observe(engine, id, seenAlive))));
}

async function observe(engine: Engine, id: unknown, seenAlive: Set<string>): Promise<WaitEntry> {
  try {
    if (!isText(id)) throw new LionError('invalid_input', 'a run id is text');
    const runId = resolveRunId(engine.home, id);
    const status = await statusOf(engine, runId, {
      ...ONE_RUN_BOUNDS,
      // An end on the record and a process that lives on: the answer says so beside it.
      probeEnded: true,
      seenAlive: seenAlive.has(runId),
    });
    if (status.liveness.alive) seenAlive.add(runId);
    const error = recordError(status);
    const bucket = error === null ? bucketOf(status.derived, recordOf(status), engine.now()) : 'error';
    return { id, status, bucket, error };
  } catch (error) {
    if (!(error instanceof LionError)) throw error;
    return { id, status: null, bucket: 'error', error };
  }
}

/** Of what cannot be resolved there is nothing to watch; the look says what is wrong with it. */
function runDirFor(engine: Engine, id: unknown): string[] {
  try {
    return isText(id) ? [runDirOf(engine.home, resolveRunId(engine.home, id))] : [];
  } catch (error) {
    if (error instanceof LionError) return [];
    throw error;
  }
}

function isText(id: unknown): id is string {
  return typeof id === 'string';
}
