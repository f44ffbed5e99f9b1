import { pyEqual } from '../json/python.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { isConclusive } from '../liveness/finding.ts';
import { hasEnd } from './end.ts';

/** The identity that was probed; a record that carries another was not looked at (design 5.4). */
export interface Probed {
  readonly pid: Json;
  readonly createTime: Json;
}

export function probedOf(record: JsonObject): Probed {
  return { pid: record.get('pid') ?? null, createTime: record.get('pid_create_time') ?? null };
}

export type ReapRefusal =
  | 'finding_is_not_conclusive'
  | 'spawn_state_is_not_started'
  | 'already_ended'
  | 'probed_identity_changed';

/**
 * May this record be ended as an orphan? All of ADR-0107 D1's conditions that the record itself answers; that
 * it exists and names its run is the mutation's to know. Null admits.
 */
export function refuseReap(record: JsonObject, finding: string, probed: Probed): ReapRefusal | null {
  if (!isConclusive(finding)) return 'finding_is_not_conclusive';
  if (hasEnd(record)) return 'already_ended';
  if (record.get('spawn_state') !== 'started') return 'spawn_state_is_not_started';
  return sameIdentity(probedOf(record), probed) ? null : 'probed_identity_changed';
}

export function sameIdentity(a: Probed, b: Probed): boolean {
  return pyEqual(a.pid, b.pid) && pyEqual(a.createTime, b.createTime);
}
