import type { Engine } from '../engine.ts';
import { pyEqual } from '../json/python.ts';
import { isObject, type Json, type Jsonable, type JsonObject, toJson } from '../json/value.ts';
import { mutateRecord } from '../record/mutate.ts';
import { hasEnd } from '../run/end.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso } from '../time/iso.ts';
import { claimStands, NOTICE_LOCK_WAIT_MS } from './claim.ts';

export type Rewrite = 'written' | 'changed_meanwhile' | 'refused';

/**
 * Replaces what a record says of its notice, if that is still what `seen` says and nobody has claimed it: the
 * same comparison an attempt makes, for changes that send nothing.
 */
export async function rewriteDelivery(
  engine: Engine,
  runId: string,
  seen: Json | undefined,
  next: JsonObject,
): Promise<Rewrite> {
  const options = { waitMs: NOTICE_LOCK_WAIT_MS, signal: engine.signal, now: engine.now };
  const mutation = await mutateRecord(runDirOf(engine.home, runId), runId, options, (record) => {
    const current = record.get('notify_delivery');
    const unchanged = pyEqual(current ?? null, seen ?? null);
    if (!hasEnd(record) || !unchanged || claimStands(engine, current)) return { verdict: false };
    return { verdict: true, set: new Map([['notify_delivery', next as Json]]) };
  });
  if (mutation.kind === 'refused') return 'refused';
  return mutation.kind === 'done' && mutation.verdict ? 'written' : 'changed_meanwhile';
}

/** Nothing more is sent by itself, for this reason; what is known of earlier attempts stays. */
export function parkedDelivery(seen: Json | undefined, reason: string, configHash: string): JsonObject {
  const next = withMembers(seen, { owed: true, retry: { parked: { reason, config_hash: configHash } } });
  next.delete('claim');
  next.delete('next_at');
  return next;
}

/** Another writer's end or failure, taken over: from now on it is owed, and due. */
export function adoptedDelivery(seen: Json | undefined, nowMs: number): JsonObject {
  return withMembers(seen, { owed: true, retry: { next_at: formatIso(nowMs) } });
}

/** An end that a rule of the configuration keeps quiet about. */
export function skippedDelivery(seen: Json | undefined): JsonObject {
  const next = withMembers(seen, { owed: false, skipped: 'by_rule' });
  next.delete('retry');
  next.delete('next_at');
  return next;
}

function withMembers(
  seen: Json | undefined,
  members: { readonly [key: string]: Jsonable },
): Map<string, Json> {
  const base = isObject(seen) ? seen : (toJson({ attempted: false }) as JsonObject);
  return new Map([...base, ...(toJson(members) as JsonObject)]);
}
