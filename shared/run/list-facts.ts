import type { Row } from '../contract/row.ts';
import type { Facts } from '../index/block.ts';
import type { Json, Jsonable } from '../json/value.ts';
import { parseIso } from '../time/iso.ts';
import { type RunStatus, recordOf } from './status.ts';

/** Only texts are facts: a label that is an object is listed as it stands, and no filter finds it. */
export function factsOf(status: RunStatus, row: Row): Facts {
  const record = recordOf(status);
  const { derived } = status;
  const tags = record.get('tags');
  const submitted = record.get('submitted_at');
  return {
    terminal: derived.terminal,
    status: textOrNull(derived.status),
    outcome: derived.outcome,
    kind: textOrNull(record.get('kind')),
    label: textOrNull(record.get('label')),
    reasonCode: textOrNull(derived.reasonCode),
    submittedMs: whole(typeof submitted === 'string' ? parseIso(submitted) : null),
    notifyState: textOrNull(row.notify_delivery_state),
    retryState: textOrNull(row.notify_retry_state),
    tags: Array.isArray(tags) ? tags.filter(isText).map(wellFormed) : [],
  };
}

function textOrNull(value: Jsonable): string | null {
  return typeof value === 'string' ? wellFormed(value) : null;
}

function isText(value: Json): value is string {
  return typeof value === 'string';
}

/** No half of a surrogate pair survives in SQLite, nor in an argument. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function whole(ms: number | null): number | null {
  return ms !== null && Number.isSafeInteger(Math.floor(ms)) ? Math.floor(ms) : null;
}
