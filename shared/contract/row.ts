import type { Engine } from '../engine.ts';
import { IndexFault } from '../index/fault.ts';
import { parseJson } from '../json/parse.ts';
import { type Jsonable, toJson } from '../json/value.ts';
import { LINE_STYLE, writeJson } from '../json/write.ts';
import { deliveryStateOf, retryStateOf } from '../notify/delivery-state.ts';
import { degradedReason, readManifest } from '../output/manifest.ts';
import { preparingAgeSeconds } from '../run/preparing.ts';
import { type RunStatus, recordOf } from '../run/status.ts';

import { lifecycleOf } from './lifecycle.ts';

/** One row of `data.jobs`: its keys, in their order (ADR-0106 D6). */
const KEYS = [
  'run_id',
  'kind',
  'label',
  'status',
  'terminal',
  'outcome',
  'reason_code',
  'spawn_state',
  'submitted_at',
  'finished_at',
  'finished_at_precision',
  'terminal_source',
  'record_state',
  'persistence_degraded_reason',
  'notify_delivery_state',
  'notify_retry_state',
  'possibly_orphaned',
  'lifecycle',
  'preparing_age_seconds',
  'survivors',
  'refusal',
] as const;

export type Row = Readonly<Record<(typeof KEYS)[number], Jsonable>>;

/** As one text without the keys, which are the same for all. */
export function valuesOf(row: Row): string {
  return writeJson(toJson(KEYS.map((key) => row[key])), LINE_STYLE);
}

/** @throws IndexFault `corrupt` for what `valuesOf` did not write. */
export function rowOfValues(text: string): Row {
  const values = valuesIn(text);
  if (!Array.isArray(values) || values.length !== KEYS.length) {
    throw new IndexFault('corrupt', new Error('a row of another form'));
  }
  return Object.fromEntries(KEYS.map((key, at) => [key, values[at]])) as Row;
}

function valuesIn(text: string): unknown {
  try {
    return plainValues(text) ?? parseJson(text);
  } catch (error) {
    throw new IndexFault('corrupt', error);
  }
}

/** As nearly every row can be read, in a tenth of the time; null: there is something of which this loses a part. */
function plainValues(text: string): unknown[] | null {
  if (text.includes('NaN') || text.includes('Infinity')) return null;
  const values: unknown = JSON.parse(text);
  if (!Array.isArray(values)) return null;
  // The one object whose keys are ours; a record's own may have any, and numbers that no double holds.
  const [lifecycle] = values.splice(LIFECYCLE_AT, 1, null);
  const isPlain = values.every(isPlainValue) && Object.values(lifecycle ?? {}).every(isPlainValue);
  values[LIFECYCLE_AT] = lifecycle;
  return isPlain ? values : null;
}

const LIFECYCLE_AT = KEYS.indexOf('lifecycle');

function isPlainValue(value: unknown): boolean {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (Array.isArray(value) && value.length === 0)
  );
}

export function rowOf(engine: Engine, status: RunStatus): Row {
  const record = recordOf(status);
  const { derived } = status;
  const degraded = degradedReason(readManifest(engine, status.runId));
  return {
    run_id: status.runId,
    kind: record.get('kind') ?? null,
    label: record.get('label') ?? null,
    status: derived.status,
    terminal: derived.terminal,
    outcome: derived.outcome,
    reason_code: derived.reasonCode,
    spawn_state: record.get('spawn_state') ?? null,
    submitted_at: record.get('submitted_at') ?? null,
    finished_at: record.get('finished_at') ?? null,
    finished_at_precision: record.get('finished_at_precision') ?? null,
    terminal_source: record.get('terminal_source') ?? null,
    record_state: status.read.state,
    persistence_degraded_reason: degraded,
    notify_delivery_state: deliveryStateOf(record.get('notify_delivery')),
    notify_retry_state: retryStateOf(record.get('notify_delivery')),
    possibly_orphaned: derived.possiblyOrphaned,
    lifecycle: lifecycleOf(record, derived, degraded),
    preparing_age_seconds: preparingAgeSeconds(record, engine.now()),
    survivors: survivorsOf(status),
    refusal: status.refusal === null ? null : { ...status.refusal },
  };
}

/** As the end names them; before an end, as they were seen now. */
export function survivorsOf(status: RunStatus): Jsonable {
  return recordOf(status).get('survivors') ?? [...status.survivors];
}
