/**
 * The one classification path (ADR-0107 D1, D6; design 6): status, list, wait, output and the supervisor all
 * come through `classify`. From a run id to an answer:
 *
 *   read the record -> look at its process -> not alive and no end: ask the lifecycle store, cache its end ->
 *   still open and conclusively gone: reap through the fence -> derive from what is on the record now
 *
 * A terminal answer always comes from a durable end; what could not be written is a `refusal` beside a
 * non-terminal answer, and the next observation tries again.
 */
import type { Engine } from '../engine.ts';
import type { JsonObject } from '../json/value.ts';
import { askLifecycle, LIFECYCLE_TIMEOUT_MS } from '../lifecycle/ask.ts';
import type { LifecycleEnd } from '../lifecycle/end.ts';
import { processClaimOf } from '../liveness/claim.ts';
import { isConclusive, type Liveness, livenessOf } from '../liveness/finding.ts';
import { type Observation, observeLiveness } from '../liveness/observe.ts';
import { attemptNotice } from '../notify/attempt-notice.ts';
import { type RecordRead, readRecord } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso } from '../time/iso.ts';
import { probedOf } from './admit.ts';
import { cacheLifecycleEnd } from './cache-end.ts';
import { type Derived, derive } from './derive.ts';
import { hasEnd } from './end.ts';
import { owedByObserver } from './owed-by-observer.ts';
import { reapOrphan } from './reap.ts';
import { stampOrigin } from './stamp-origin.ts';

export interface ClassifyOptions {
  /** How long to wait for the run's lock; a list does not wait (0). */
  readonly lockWaitMs: number;
  /** What is left for the lifecycle store; 0 or less: it is not asked, and nothing is ended without asking. */
  readonly lifecycleTimeoutMs: () => number;
  /** Look at the process of an ended run too: only an answer that shows it needs that. */
  readonly probeEnded: boolean;
  /** The caller saw this run alive before: its notice is due however old its files are. */
  readonly seenAlive: boolean;
  /** Leave a gone run with these marked survivors open for now: a late hook of its may still report. */
  readonly holdReap?: (survivors: readonly number[]) => boolean;
}

export interface StatusRefusal {
  readonly code: 'lock_unavailable' | 'publish_failed' | 'record_names_another_run' | 'lifecycle_not_asked';
  readonly message: string;
}

export interface RunStatus {
  readonly runId: string;
  readonly read: RecordRead;
  readonly derived: Derived;
  readonly liveness: Liveness;
  /** Pids of live processes that carry the run's mark, where they were looked for. */
  readonly survivors: readonly number[];
  readonly refusal: StatusRefusal | null;
  /** This observation ended the run, so its first notice is this caller's to send (ADR-0107 D7). */
  readonly wonTransition: boolean;
}

/** How long a look at one run may wait: for its lock, and for the lifecycle store. */
export const ONE_RUN_BOUNDS: Pick<ClassifyOptions, 'lockWaitMs' | 'lifecycleTimeoutMs'> = {
  lockWaitMs: 1_000,
  lifecycleTimeoutMs: () => LIFECYCLE_TIMEOUT_MS,
};

/** Observes a run; may write its end, never sends anything. */
export async function classify(engine: Engine, runId: string, options: ClassifyOptions): Promise<RunStatus> {
  const first = await observeOnce(engine, runId, options);
  // The record changed between the look and the lock: what is there now has not been looked at yet.
  return first === 'record_changed'
    ? settle(await observeOnce(engine, runId, options), engine, runId)
    : first;
}

/** Observes a run and, where this observation ended it, sends its first notice before answering. */
export async function statusOf(engine: Engine, runId: string, options: ClassifyOptions): Promise<RunStatus> {
  const status = await classify(engine, runId, options);
  return status.wonTransition ? announce(engine, status) : status;
}

/** The winner's first attempt at the notice, and the record as it stands after it. */
export async function announce(engine: Engine, status: RunStatus): Promise<RunStatus> {
  await attemptNotice(engine, status.runId, { role: 'winner' });
  const read = readRecord(runDirOf(engine.home, status.runId));
  return read.state === 'ok' ? { ...status, read } : status;
}

async function observeOnce(
  engine: Engine,
  runId: string,
  options: ClassifyOptions,
): Promise<RunStatus | 'record_changed'> {
  const runDir = runDirOf(engine.home, runId);
  const read = readRecord(runDir);
  if (read.state !== 'ok') return withoutRecord(runId, read);
  const record = read.object.value;
  const open = !hasEnd(record) && record.get('spawn_state') !== 'failed';
  if (!open && !options.probeEnded) return statusOfEnded(runId, read);
  const observation = observeLiveness(engine.processes, runId, runDir, processClaimOf(record), {
    judgeUnowned: engine.config.judgeUnownedRecords,
    guard: open,
  });
  if (!open) return answer(runId, read, observation, null);
  if (observation.liveness.alive) {
    await stampOrigin(engine, runId, record, observation.liveness, options.lockWaitMs);
    return answer(runId, read, observation, null);
  }
  return endIfEstablished(engine, runId, read, observation, options);
}

async function endIfEstablished(
  engine: Engine,
  runId: string,
  read: Extract<RecordRead, { state: 'ok' }>,
  observation: Observation,
  options: ClassifyOptions,
): Promise<RunStatus | 'record_changed'> {
  const observedAt = formatIso(engine.now());
  const timeoutMs = options.lifecycleTimeoutMs();
  if (timeoutMs <= 0) return answer(runId, read, observation, NOT_ASKED);
  const end = await askLifecycle(engine, runId, timeoutMs);
  if (engine.signal.aborted) return answer(runId, read, observation, NOT_ASKED);
  if (end !== null) return cacheEnd(engine, runId, end, read, observation, options);
  const record = read.object.value;
  const started = record.get('spawn_state') === 'started';
  if (!started || !isConclusive(observation.liveness.finding)) {
    return answer(runId, read, observation, record.get('run_id') === runId ? null : FOREIGN);
  }
  if (options.holdReap?.(observation.survivors)) return answer(runId, read, observation, null);
  const result = await reapOrphan(engine, runId, {
    finding: observation.liveness.finding,
    observedAt,
    probed: probedOf(record),
    survivors: observation.survivors,
    owed: await owedByObserver(engine, runId, read, options.seenAlive, 'at_once'),
    lockWaitMs: options.lockWaitMs,
  });
  if (result.refusal !== null) return answer(runId, read, observation, result.refusal);
  if (result.reason === 'record_names_another_run') return answer(runId, read, observation, FOREIGN);
  if (result.reason === 'reaped') return reread(engine, runId, observation, true);
  return result.reason === 'already_ended' ? reread(engine, runId, observation, false) : 'record_changed';
}

async function cacheEnd(
  engine: Engine,
  runId: string,
  end: LifecycleEnd,
  read: Extract<RecordRead, { state: 'ok' }>,
  observation: Observation,
  options: ClassifyOptions,
): Promise<RunStatus> {
  const cached = await cacheLifecycleEnd(engine, runId, end, {
    at: formatIso(engine.now()),
    owed: await owedByObserver(engine, runId, read, options.seenAlive, 'hook_grace'),
    lockWaitMs: options.lockWaitMs,
  });
  if (cached.kind === 'refused') return answer(runId, read, observation, cached.refusal);
  if (cached.kind === 'foreign') return answer(runId, read, observation, FOREIGN);
  return reread(engine, runId, observation, false);
}

function reread(engine: Engine, runId: string, observation: Observation, wonTransition: boolean): RunStatus {
  const read = readRecord(runDirOf(engine.home, runId));
  return { ...answer(runId, read, observation, null), wonTransition };
}

/** A record that changed twice under two looks is answered as it is read now; the next observation goes on. */
function settle(second: RunStatus | 'record_changed', engine: Engine, runId: string): RunStatus {
  return second === 'record_changed' ? reread(engine, runId, NOT_LOOKED_AT, false) : second;
}

function answer(
  runId: string,
  read: RecordRead,
  observation: Observation,
  refusal: StatusRefusal | null,
): RunStatus {
  const { liveness, survivors } = observation;
  const derived = read.state === 'ok' ? derive(read.object.value, liveness.alive) : UNKNOWN;
  return { runId, read, derived, liveness, survivors, refusal, wonTransition: false };
}

function withoutRecord(runId: string, read: RecordRead): RunStatus {
  return { ...answer(runId, read, NOT_LOOKED_AT, null), liveness: livenessOf('no_record') };
}

/** The answer for a record that has its end: nothing else needs to be asked. */
export function statusOfEnded(runId: string, read: Extract<RecordRead, { state: 'ok' }>): RunStatus {
  return answer(runId, read, NOT_LOOKED_AT, null);
}

/** An answer for a run that could not be looked at: what is on its disk is not known. */
export function unanswerable(runId: string, why: string): RunStatus {
  return withoutRecord(runId, { state: 'unreadable', why });
}

/** The record of an answer that is there to be read; an empty one otherwise. */
export function recordOf(status: RunStatus): JsonObject {
  return status.read.state === 'ok' ? status.read.object.value : new Map();
}

const NOT_LOOKED_AT: Observation = { liveness: livenessOf('no_record'), survivors: [] };
const UNKNOWN: Derived = {
  status: 'unknown',
  terminal: false,
  outcome: null,
  reasonCode: null,
  possiblyOrphaned: false,
};
const FOREIGN: StatusRefusal = {
  code: 'record_names_another_run',
  message: 'the record names another run, or none, so no end is written to it',
};
const NOT_ASKED: StatusRefusal = {
  code: 'lifecycle_not_asked',
  message: 'there was no time left to ask the lifecycle store, so nothing was ended; ask again',
};
