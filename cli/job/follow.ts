import { recordError } from '../../shared/contract/record-errors.ts';
import { statusData } from '../../shared/contract/status-view.ts';
import type { Engine } from '../../shared/engine.ts';
import { printable, printableBlock } from '../../shared/printable.ts';
import { bucketOf } from '../../shared/run/partition.ts';
import { ONE_RUN_BOUNDS, type RunStatus, recordOf, statusOf } from '../../shared/run/status.ts';
import type { Submitted } from '../../shared/submit/submit.ts';
import { sleep } from '../../shared/time/sleep.ts';
import type { Answer, Call, Chunk } from '../verb.ts';
import { Tail } from './tail.ts';

const LOOK_INTERVAL_MS = 200;
/** A run whose end nobody can establish is left after so long: one look may have met a lock. */
const STOPPED_PATIENCE_MS = 5_000;
/** As for any output that could not be written. */
export const EX_READER_GONE = 74;

/**
 * Stays with a run until it has ended: shows its log as it grows and exits by its outcome. Interrupted, it
 * leaves the run alone and says how to come back.
 */
export async function followUntilEnd(
  call: Call,
  engine: Engine,
  submitted: Submitted,
  maxWaitMs: number,
): Promise<Answer> {
  const { runId, log } = submitted.files;
  if (call.machine) {
    // Whoever gives up before the answer has the id by then.
    await call.tell(`run ${runId}`);
    const last = await lastStatus(engine, runId, performance.now() + maxWaitMs);
    return { data: statusData(engine, last), human: () => '' };
  }
  const request = { runId, log, lastChars: null, greets: true, needsReader: false };
  return { data: {}, human: () => '', follow: () => followLog(engine, request) };
}

export interface FollowRequest {
  readonly runId: string;
  /** As the record names it; null where it names none. */
  readonly log: string | null;
  /** Of what is there already, only so many characters; null: all. */
  readonly lastChars: number | null;
  /** Says first that an interruption leaves the run alone. */
  readonly greets: boolean;
  /** Ends with its reader; who started a run stays for its outcome. */
  readonly needsReader: boolean;
}

/** The log of a run until the run has ended; returns its exit status. */
export async function* followLog(
  engine: Engine,
  request: FollowRequest,
): AsyncGenerator<Chunk, number, boolean> {
  const { runId } = request;
  if (request.greets) yield toStderr(`run ${runId}; Ctrl-C leaves it running`);
  const tail = request.log === null ? null : new Tail(request.log);
  try {
    const hasReader = yield* begin(tail, request.lastChars);
    if (!hasReader && request.needsReader) return EX_READER_GONE;
    const isLasting = patience(STOPPED_PATIENCE_MS);
    for (;;) {
      const status = await look(engine, runId);
      const { terminal, outcome } = status.derived;
      const isRead = yield* drain(tail, terminal);
      if (!isRead && request.needsReader) return EX_READER_GONE;
      if (terminal) {
        yield toStderr(`run ${runId} ended: ${printable(outcome)}`);
        return outcome === 'succeeded' ? 0 : 1;
      }
      if (engine.signal.aborted) break;
      const stop = stopOf(engine, status);
      if (isLasting(stop !== null) && stop !== null) {
        yield toStderr(`run ${runId} ${stop.words}; more: lion job status ${runId}`);
        return stop.exitCode;
      }
      await sleep(LOOK_INTERVAL_MS, engine.signal);
    }
  } finally {
    tail?.close();
  }
  yield toStderr(`left run ${runId} running; come back with: lion job wait ${runId}`);
  return 0;
}

/** What is there already; false where nobody reads it. */
async function* begin(tail: Tail | null, lastChars: number | null): AsyncGenerator<Chunk, boolean, boolean> {
  if (tail === null || lastChars === null) return true;
  const { text, cut } = tail.begin(lastChars);
  if (cut) yield toStderr('[earlier output left out; --tail-chars N shows more]');
  return text === '' || (yield toStdout(text));
}

/** All there is for now; false where nobody reads it any more. */
async function* drain(tail: Tail | null, isLast: boolean): AsyncGenerator<Chunk, boolean, boolean> {
  if (tail === null) return true;
  let isRead = true;
  for (;;) {
    const { text, note } = tail.next();
    if (note !== null) yield toStderr(note);
    if (text !== '') isRead = yield toStdout(text);
    if (note === null && text === '') break;
  }
  const rest = isLast ? tail.rest() : '';
  return rest === '' ? isRead : yield toStdout(rest);
}

/** Why waiting for an end is of no use; exit statuses as `job wait` has them. */
function stopOf(
  engine: Engine,
  status: RunStatus,
): { readonly words: string; readonly exitCode: number } | null {
  const error = recordError(status);
  if (error?.kind === 'not_found') return { words: 'is not in the store any more', exitCode: 2 };
  if (error !== null) return { words: 'has a record that cannot be read', exitCode: 2 };
  switch (bucketOf(status.derived, recordOf(status), engine.now())) {
    case 'stopped_without_end':
      return { words: 'stopped without a recorded end, waiting longer cannot tell', exitCode: 4 };
    case 'unresolved_spawn':
      return { words: 'was never seen to start', exitCode: 4 };
    default:
      return null;
  }
}

/** Tells of something looked at again and again whether it has been so for that long. */
function patience(ms: number): (isSo: boolean) => boolean {
  let sinceMs: number | null = null;
  return (isSo) => {
    sinceMs = isSo ? (sinceMs ?? performance.now()) : null;
    return sinceMs !== null && performance.now() - sinceMs >= ms;
  };
}

function toStdout(text: string): Chunk {
  return { to: 'stdout', text: printableBlock(text) };
}

function toStderr(line: string): Chunk {
  return { to: 'stderr', text: `${line}\n` };
}

async function lastStatus(engine: Engine, runId: string, deadlineMs: number): Promise<RunStatus> {
  for (;;) {
    const status = await look(engine, runId);
    const leftMs = deadlineMs - performance.now();
    if (status.derived.terminal || engine.signal.aborted || leftMs <= 0) return status;
    await sleep(Math.min(LOOK_INTERVAL_MS, leftMs), engine.signal);
  }
}

function look(engine: Engine, runId: string): Promise<RunStatus> {
  return statusOf(engine, runId, {
    ...ONE_RUN_BOUNDS,
    probeEnded: true,
    seenAlive: true,
  });
}
