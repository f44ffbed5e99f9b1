import type { JsonObject } from '../json/value.ts';
import { parseIso } from '../time/iso.ts';
import { hasEnd } from './end.ts';

/** From this age on a spawn that never resolved is reported apart; advisory, never an end (ADR-0106 D5, D10). */
export const UNRESOLVED_SPAWN_AFTER_S = 600;

/** Seconds since a still-preparing run was submitted; null for any other, or one whose time is no time. */
export function preparingAgeSeconds(record: JsonObject, nowMs: number): number | null {
  if (record.get('spawn_state') !== 'preparing' || hasEnd(record)) return null;
  const submitted = record.get('submitted_at');
  const submittedMs = typeof submitted === 'string' ? parseIso(submitted) : null;
  return submittedMs === null ? null : (nowMs - submittedMs) / 1000;
}
