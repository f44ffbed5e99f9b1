import type { Engine } from '../shared/engine.ts';
import { resolveNotifier } from '../shared/notify/notifier.ts';
import { adoptedDelivery, parkedDelivery, type Rewrite, rewriteDelivery } from '../shared/notify/rewrite.ts';
import { type RunStatus, recordOf } from '../shared/run/status.ts';
import type { Action } from './decide.ts';
import type { Look } from './look.ts';
import { noticeEvent } from './notice-event.ts';
import type { Parts } from './parts.ts';

/** After a change of ours that was refused, or found the record changed. */
const REWRITE_PAUSE_MS = 5_000;
/** An end of another writer that nobody is to be told of, as far as is configured now. */
const UNCONFIGURED_LOOK_MS = 60_000;

/** Does one of the things that were decided about a run. */
export async function act(parts: Parts, runId: string, look: Look, action: Action): Promise<void> {
  const { roster, schedule, asleep, deliveries, index, engine } = parts;
  switch (action.do) {
    case 'forget':
      roster.forget(runId);
      schedule.drop(runId);
      asleep.drop(runId);
      parts.notices.drop(runId);
      deliveries.forget(runId);
      parts.follow(runId, false);
      return index.drop(runId);
    case 'watch':
      return parts.follow(runId, action.watched);
    case 'look_again': {
      const run = roster.openRun(runId);
      if (run === null) schedule.at(runId, action.atMs);
      else run.notBeforeMs = action.atMs;
      return;
    }
    case 'send':
      asleep.drop(runId);
      return deliveries.add(runId, action.won);
    case 'await_settings':
      return look.status === null ? undefined : asleep.put(engine, runId, recordOf(look.status));
    case 'adopt':
      return afterRewrite(parts, runId, await adopt(engine, runId, look.status));
    case 'park':
      return afterRewrite(parts, runId, await park(parts, runId, look.status, action.reason));
    case 'index':
      if (look.seen.state === 'ended') roster.settle(runId, action.settled);
      return look.status === null ? undefined : index.put(look.status, look.signature, action.settled);
  }
}

async function adopt(
  engine: Engine,
  runId: string,
  status: RunStatus | null,
): Promise<Rewrite | 'unconfigured'> {
  if (status === null) return 'changed_meanwhile';
  const record = recordOf(status);
  const notifier = await resolveNotifier(engine, runId, record);
  if (notifier.kind === 'none') return 'unconfigured';
  const seen = record.get('notify_delivery');
  return rewriteDelivery(engine, runId, seen, adoptedDelivery(seen, engine.now()));
}

async function park(
  { engine, journal }: Parts,
  runId: string,
  status: RunStatus | null,
  reason: string,
): Promise<Rewrite> {
  const seen = status === null ? undefined : recordOf(status).get('notify_delivery');
  const parked = parkedDelivery(seen, reason, '');
  const rewrite = await rewriteDelivery(engine, runId, seen, parked);
  if (rewrite === 'written') journal(noticeEvent(runId, parked));
  return rewrite;
}

function afterRewrite(parts: Parts, runId: string, rewrite: Rewrite | 'unconfigured'): void {
  const pauseMs = {
    written: 0,
    changed_meanwhile: 1_000,
    refused: REWRITE_PAUSE_MS,
    unconfigured: UNCONFIGURED_LOOK_MS,
  };
  parts.schedule.at(runId, parts.engine.now() + pauseMs[rewrite]);
}
