import type { Engine } from '../engine.ts';
import { type JsonObject, toJson } from '../json/value.ts';
import { fieldsOf } from './attempt-notice.ts';
import { deliver } from './deliver.ts';
import { type DeliveryState, deliveryStateOf } from './delivery-state.ts';
import { type Notifier, resolveNotifier } from './notifier.ts';

export interface Tried {
  readonly notifier: Notifier;
  /** `nothing`: none is configured. */
  readonly result: Exclude<DeliveryState, 'none'> | 'nothing';
  /** In the words a record would have; null where no notifier was started. */
  readonly delivery: JsonObject | null;
  readonly durationMs: number;
}

/**
 * Runs the notifier of a run once, or of no run at all, and records nothing anywhere. The delivery id is none
 * that a notice has, so that no receiver takes the run's real notice for a repeat of this.
 *
 * @param engine with the environment the notifier is to have
 * @param run null: a sample, as if it had been submitted from the engine's directory
 */
export async function tryNotifier(
  engine: Engine,
  run: { readonly runId: string; readonly record: JsonObject } | null,
): Promise<Tried> {
  const testId = `test-${new Date(engine.now()).toISOString().replace(/[-:.]/g, '')}`;
  const { runId, record } = run ?? { runId: testId, record: sampleRecord(engine.cwd) };
  const notifier = await resolveNotifier(engine, runId, record);
  if (notifier.kind === 'none') return { notifier, result: 'nothing', delivery: null, durationMs: 0 };
  if (notifier.kind === 'unusable') return { notifier, result: 'failed', delivery: null, durationMs: 0 };
  const startedMs = performance.now();
  const fields = fieldsOf(runId, record, notifier, { role: 'person' });
  const { delivery } = await deliver(engine, notifier, {
    fields,
    outcome: null,
    deliveryId: testId,
    attempt: 1,
  });
  const state = deliveryStateOf(delivery);
  return {
    notifier,
    result: state === 'none' ? 'unknown' : state,
    delivery,
    durationMs: Math.round(performance.now() - startedMs),
  };
}

function sampleRecord(cwd: string): JsonObject {
  return toJson({ status: 'test', label: 'test of the notifier', cwd, submit_cwd: cwd }) as JsonObject;
}
