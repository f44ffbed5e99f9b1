import type { JsonObject } from '../json/value.ts';
import type { Derived } from './derive.ts';
import { preparingAgeSeconds, UNRESOLVED_SPAWN_AFTER_S } from './preparing.ts';

/** ADR-0106 D10: disjoint and exhaustive over every run that could be observed. */
export type Bucket = 'terminal' | 'pending' | 'stopped_without_end' | 'unresolved_spawn';

export function bucketOf(derived: Derived, record: JsonObject, nowMs: number): Bucket {
  if (derived.terminal) return 'terminal';
  const ageS = preparingAgeSeconds(record, nowMs);
  if (ageS !== null && ageS >= UNRESOLVED_SPAWN_AFTER_S) return 'unresolved_spawn';
  return derived.possiblyOrphaned ? 'stopped_without_end' : 'pending';
}
