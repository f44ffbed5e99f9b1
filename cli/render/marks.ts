import type { Jsonable } from '../../shared/json/value.ts';

type Fields = Readonly<Record<string, Jsonable>>;

/** Words that make a run stand out in a list: what a person should look at. */
export function marksOf(row: Fields): string[] {
  const marks: string[] = [];
  if (row.record_state !== undefined && row.record_state !== 'ok')
    marks.push(`damaged:${String(row.record_state)}`);
  if (row.possibly_orphaned === true) marks.push('orphan?');
  if (isOldPreparing(row)) marks.push('spawn?');
  if (Array.isArray(row.survivors) && row.survivors.length > 0)
    marks.push(`survivors:${row.survivors.length}`);
  if (typeof row.persistence_degraded_reason === 'string') marks.push('degraded');
  if (isObjectWithCode(row.refusal)) marks.push(row.refusal.code);
  marks.push(...noticeMarks(row));
  return marks;
}

function noticeMarks(row: Fields): string[] {
  const retry = row.notify_retry_state;
  const state = row.notify_delivery_state;
  // That it may have arrived is more than that it is held for a person.
  if (state === 'unknown') return ['notice:unknown'];
  if (typeof retry === 'string' && retry !== 'skipped') return [`notice:${retry}`];
  if (state === 'failed') return ['notice:failed'];
  return state === 'delivered_unverified' ? ['notice:unverified'] : [];
}

function isOldPreparing(row: Fields): boolean {
  return typeof row.preparing_age_seconds === 'number' && row.preparing_age_seconds >= 600;
}

function isObjectWithCode(value: Jsonable): value is { readonly code: string } {
  return typeof value === 'object' && value !== null && 'code' in value && typeof value.code === 'string';
}
