import pLimit from 'p-limit';
import type { Engine } from '../engine.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { readRecord } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { type AttemptOutcome, attemptNotice } from './attempt-notice.ts';
import { type DeliveryState, deliveryStateOf } from './delivery-state.ts';
import { attemptsOn } from './next-step.ts';

export interface Sent {
  readonly runId: string;
  /**
   * What now stands on the record; `refused`: it could not be recorded; `nothing`: no notifier was started.
   */
  readonly result: Exclude<DeliveryState, 'none'> | 'refused' | 'nothing';
  /** A short code; null where it was delivered. */
  readonly why: Json;
  readonly deliveryId: Json;
  /** Attempts at this notice so far, by whomever. */
  readonly attempts: number;
}

/**
 * Sends the notices of these runs now, for a person (ADR-0107 D7): whatever was made of them before, unless
 * somebody is sending one right now. As many at once as the configuration has it (8); answers in the order of
 * `runIds`; one run's fault costs the others nothing.
 */
export function sendByHand(engine: Engine, runIds: readonly string[]): Promise<Sent[]> {
  const limit = pLimit(engine.config.notify.atOnce);
  return Promise.all(runIds.map((runId) => limit(() => sendOne(engine, runId))));
}

async function sendOne(engine: Engine, runId: string): Promise<Sent> {
  const before = readRecord(runDirOf(engine.home, runId));
  if (before.state !== 'ok') return sent(runId, 'nothing', `record_${before.state}`);
  const record = before.object.value;
  const delivery = record.get('notify_delivery');
  if (record.get('run_id') !== runId) return sent(runId, 'nothing', 'record_names_another_run', delivery);
  // What has not begun stays as it is; to claim it and give up would leave it looking as if it may have arrived.
  if (engine.signal.aborted) return sent(runId, 'nothing', 'interrupted', delivery);
  try {
    return sentOf(runId, await attemptNotice(engine, runId, { role: 'person' }), delivery);
  } catch (error) {
    return sent(runId, 'refused', error instanceof Error ? error.message : String(error), delivery);
  }
}

function sentOf(runId: string, outcome: AttemptOutcome, before: Json | undefined): Sent {
  switch (outcome.kind) {
    case 'nothing':
      return sent(runId, 'nothing', outcome.why, before);
    case 'refused':
      return sent(
        runId,
        'refused',
        outcome.launched ? 'result_not_recorded' : 'attempt_not_recorded',
        before,
      );
    case 'settled': {
      const { delivery } = outcome;
      const state = deliveryStateOf(delivery);
      return sent(runId, state === 'none' ? 'nothing' : state, whyOf(delivery), delivery);
    }
  }
}

function whyOf(delivery: JsonObject): Json {
  return delivery.get('error') ?? delivery.get('failure_class') ?? delivery.get('unverified_reason') ?? null;
}

function sent(runId: string, result: Sent['result'], why: Json, delivery?: Json): Sent {
  const deliveryId = isObject(delivery) ? (delivery.get('delivery_id') ?? null) : null;
  return { runId, result, why, deliveryId, attempts: attemptsOn(delivery) };
}
