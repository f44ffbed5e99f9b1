import { LionError } from '../../shared/contract/errors.ts';
import { type Clamped, waitData } from '../../shared/contract/wait-view.ts';
import type { Engine } from '../../shared/engine.ts';
import { printable } from '../../shared/printable.ts';
import { type WaitEntry, type WaitResult, waitForRuns } from '../../shared/run/wait.ts';
import type { Answer, Call } from '../verb.ts';

export interface WaitOptions {
  readonly maxWait?: string;
  readonly pollInterval?: string;
  readonly any?: boolean;
}

const MAX_WAIT_S = { min: 0, max: 600, fallback: 60 };
const POLL_INTERVAL_S = { min: 0.05, max: 60, fallback: 1 };

/**
 * `lion job wait RUN...` (ADR-0106 D10, design 10). A program gets one bounded window; a person who names none
 * waits until it is over.
 */
export async function wait(call: Call, ids: readonly string[], options: WaitOptions): Promise<Answer> {
  const maxWait = clamp('--max-wait', options.maxWait, MAX_WAIT_S);
  const poll = clamp('--poll-interval', options.pollInterval, POLL_INTERVAL_S);
  const engine = await call.open();
  const request = {
    ids,
    maxWaitS: maxWait.effective,
    pollIntervalS: poll.effective,
    any: options.any ?? false,
  };
  const unbounded = !call.machine && options.maxWait === undefined;
  call.progress(
    `waiting for ${ids.length === 1 ? 'it' : `${ids.length} runs`} to end; Ctrl-C leaves it at that`,
  );
  const result = await waitThrough(engine, request, unbounded);
  return {
    data: waitData(engine, result, maxWait, poll),
    human: async () => (await Promise.all(result.entries.map((entry) => waitLine(call, entry)))).join(''),
    exitCode: exitCodeOf(result, request.any),
  };
}

async function waitThrough(
  engine: Engine,
  request: Parameters<typeof waitForRuns>[1],
  unbounded: boolean,
): Promise<WaitResult> {
  if (!unbounded) return waitForRuns(engine, request);
  // A mistyped id is said at once, not after the others have ended.
  let result = await waitForRuns(engine, { ...request, maxWaitS: 0 });
  if (result.entries.some((entry) => entry.error !== null)) return result;
  do result = await waitForRuns(engine, request);
  while (result.timedOut && !engine.signal.aborted);
  return result;
}

/** What is no number counts as the least, as the Python engine has it; NaN is refused. */
function clamp(name: string, text: string | undefined, bounds: typeof MAX_WAIT_S): Clamped {
  if (text === undefined) return { requested: bounds.fallback, effective: bounds.fallback };
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : null;
  if (/^[+-]?nan$/i.test(text.trim()))
    throw new LionError('invalid_input', `${name} is not a number: ${text}`);
  if (number === null) return { requested: text, effective: bounds.min };
  return { requested: number, effective: Math.min(bounds.max, Math.max(bounds.min, number)) };
}

/** Design 10: 0 all succeeded, 1 ended otherwise, 2 bad id, 3 window closed, 4 stopped or unresolved. */
export function exitCodeOf({ entries, timedOut }: WaitResult, any: boolean): number {
  const ended = entries.filter((entry) => entry.bucket === 'terminal');
  const allSucceeded = ended.every((entry) => entry.status?.derived.outcome === 'succeeded');
  if (entries.some((entry) => entry.error !== null)) return 2;
  if (any && ended.length > 0) return allSucceeded ? 0 : 1;
  if (timedOut) return 3;
  if (ended.length < entries.length) return 4;
  return allSucceeded ? 0 : 1;
}

export async function waitLine(call: Call, entry: WaitEntry): Promise<string> {
  const { status, error } = entry;
  if (error !== null || status === null) {
    const near = error?.kind === 'not_found' ? await nearWords(call, String(entry.id)) : '';
    return `${printable(String(entry.id))}  ${error?.kind}: ${printable(error?.message)}${near}\n`;
  }
  const words = [printable(status.runId), printable(status.derived.status)];
  words.push(entry.bucket === 'terminal' ? printable(status.derived.outcome) : BUCKET_WORDS[entry.bucket]);
  if (status.derived.terminal) words.push(printable(status.derived.reasonCode));
  if (status.refusal !== null) words.push(`(${status.refusal.code})`);
  return `${words.filter(Boolean).join('  ')}\n`;
}

export async function nearWords(call: Call, id: string): Promise<string> {
  const near = (await import('../near.ts')).nearRuns(call, id);
  return near.length === 0 ? '; see: lion job list' : `; did you mean ${near.map(printable).join(', ')}?`;
}

const BUCKET_WORDS: Readonly<Record<WaitEntry['bucket'], string>> = {
  terminal: 'ended',
  pending: 'still running',
  stopped_without_end: 'stopped without a recorded end; waiting longer cannot tell',
  unresolved_spawn: 'was never seen to start',
  error: 'error',
};
