import { pyTruthy } from '../json/python.ts';
import { isObject, type Json, toJson } from '../json/value.ts';
import { formatIso } from '../time/iso.ts';

/**
 * What a writer of an end puts beside `{attempted: false}`, so that what is owed is on the record itself and
 * no index or supervisor is needed to know it (design 7).
 */
export interface OwedNotice {
  readonly [key: string]: string | boolean | undefined;
  readonly owed: boolean;
  /** ISO time before which the supervisor leaves it to the child's own hook. */
  readonly next_at?: string;
  /** Why there will be no automatic notice. */
  readonly skipped?: 'beyond_horizon';
}

/** The child's own hook may still speak after a kill or a cached lifecycle end. */
const CHILD_HOOK_GRACE_MS = 60_000;

/** For an end whose run's own hook may still report: owed, and nobody but the hook sends it for a minute. */
export function owedAfterGrace(nowMs: number): OwedNotice {
  return { owed: true, next_at: formatIso(nowMs + CHILD_HOOK_GRACE_MS) };
}

/** The delivery object of a record that gets its end: an attempt already on it stays as it is. */
export function withOwed(delivery: Json | undefined, owed: OwedNotice): Json {
  if (delivery !== undefined && delivery !== null) {
    const untouched = isObject(delivery) && !pyTruthy(delivery.get('attempted')) && !delivery.has('owed');
    if (!untouched || pyTruthy(delivery.get('error'))) return delivery;
  }
  const base = isObject(delivery) ? delivery : toJson({ attempted: false });
  return new Map([...(base as Map<string, Json>), ...(toJson(owed) as Map<string, Json>)]);
}
