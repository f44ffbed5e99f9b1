import { LionError } from '../../shared/contract/errors.ts';
import { recordRefusal } from '../../shared/contract/record-errors.ts';
import type { Engine } from '../../shared/engine.ts';
import { requireLock } from '../../shared/lock/run-lock.ts';
import { claimStands } from '../../shared/notify/claim.ts';
import { isSentUnnamed, type NoticeState } from '../../shared/notify/notice-filter.ts';
import { findNotices } from '../../shared/notify/notices.ts';
import { type Sent, sendByHand } from '../../shared/notify/send-by-hand.ts';
import { printable } from '../../shared/printable.ts';
import { readRecord } from '../../shared/record/read.ts';
import { runDirOf } from '../../shared/store/home.ts';
import { resolveRunId } from '../../shared/store/run-id.ts';
import type { Answer, Call } from '../verb.ts';
import { stateOf } from './state.ts';

export interface NotifyRetryOptions {
  readonly all?: boolean;
  readonly state?: string;
}

/** `lion notify retry RUN... | --all`: sends now, by hand. */
export async function notifyRetry(
  call: Call,
  ids: readonly string[],
  options: NotifyRetryOptions,
): Promise<Answer> {
  const state = stateOf(options.state);
  checkUsage(ids, options.all ?? false, state);
  await requireLock();
  const engine = await call.open();
  const runIds = options.all ? unnamed(engine, state) : named(engine, ids);
  const results = await sendByHand(engine, runIds);
  return {
    data: { results: results.map(resultData) },
    human: () => (results.length === 0 ? 'Nothing to send.\n' : results.map(resultLine).join('')),
    exitCode: results.every(({ result }) => result === 'delivered') ? 0 : 1,
  };
}

function checkUsage(ids: readonly string[], all: boolean, state: NoticeState | null): void {
  const refuse = (message: string): never => {
    throw new LionError('invalid_input', message);
  };
  if (all === ids.length > 0) refuse('give the runs, or --all');
  if (state !== null && !all) refuse('--state goes with --all');
  if (state === 'delivered') refuse('what was delivered is sent again only where its run is named');
}

function unnamed(engine: Engine, state: NoticeState | null): string[] {
  const { runs } = findNotices(
    engine,
    (delivery) => isSentUnnamed(delivery, state) && !claimStands(engine, delivery),
    Number.POSITIVE_INFINITY,
  );
  return runs.map(({ runId }) => runId);
}

/** An id that is wrong refuses the call before anything is sent. */
function named(engine: Engine, ids: readonly string[]): string[] {
  const runIds = new Set(ids.map((id) => resolveRunId(engine.home, id)));
  for (const runId of runIds) {
    const read = readRecord(runDirOf(engine.home, runId));
    if (read.state === 'absent') throw recordRefusal(runId, read);
  }
  return [...runIds];
}

function resultData({ runId, result, why, deliveryId, attempts }: Sent) {
  return { run_id: runId, result, why, delivery_id: deliveryId, attempts };
}

function resultLine({ runId, result, why }: Sent): string {
  const words = result === 'nothing' ? 'not sent' : printable(result);
  return `${printable(runId)}  ${words}${why === null ? '' : `: ${printable(why)}`}\n`;
}
