import type { JsonObject } from '../json/value.ts';

/** Any `finished_at` but null latches, whatever its type: no writer replaces it (ADR-0107 D5). */
export function hasEnd(record: JsonObject): boolean {
  return (record.get('finished_at') ?? null) !== null;
}

/** Ended, or never started: nothing more will happen to it. */
export function isOver(record: JsonObject): boolean {
  return hasEnd(record) || record.get('spawn_state') === 'failed';
}
