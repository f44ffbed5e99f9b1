import { rowOf } from '../../shared/contract/row.ts';
import type { Engine } from '../../shared/engine.ts';
import type { IndexRow } from '../../shared/index/schema.ts';
import { type Json, toJson } from '../../shared/json/value.ts';
import { LINE_STYLE, writeJson } from '../../shared/json/write.ts';
import { endMsOf } from '../../shared/notify/next-step.ts';
import { type RunStatus, recordOf } from '../../shared/run/status.ts';
import { parseIso } from '../../shared/time/iso.ts';

/** A run's row as it is listed, with the columns that filters go by. */
export function indexRowOf(
  engine: Engine,
  status: RunStatus,
  signature: string | null,
  settled: boolean,
): IndexRow {
  const row = rowOf(engine, status);
  const record = recordOf(status);
  const tags = record.get('tags');
  const submitted = record.get('submitted_at');
  return {
    runId: status.runId,
    signature,
    settled,
    recordState: status.read.state,
    terminal: status.derived.terminal,
    status: textOrNull(status.derived.status),
    outcome: status.derived.outcome,
    kind: textOrNull(record.get('kind')),
    label: textOrNull(record.get('label')),
    reasonCode: textOrNull(status.derived.reasonCode),
    submittedMs: whole(typeof submitted === 'string' ? parseIso(submitted) : null),
    finishedMs: whole(endMsOf(record)),
    notifyState: textOrNull(toJson(row.notify_delivery_state)),
    retryState: textOrNull(toJson(row.notify_retry_state)),
    tags: Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [],
    row: writeJson(toJson(Object.values(row)), LINE_STYLE),
  };
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function whole(ms: number | null): number | null {
  return ms !== null && Number.isSafeInteger(Math.floor(ms)) ? Math.floor(ms) : null;
}
