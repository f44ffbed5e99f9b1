/**
 * What is to be done about the notice of an ended run, decided from its record alone (ADR-0107 D7). It holds
 * after a restart, with the index gone, and for ends of any writer:
 *
 *   owed, unsent ── due ──> attempt ──> delivered | failed ── due ──> attempt ... | parked
 *   claim left behind ──> outcome unknown: parked for a person, unless repeating it is configured
 *   end or failure of another writer, still young ──> adopt (owed is put on the record first), then as ours
 */
import { pyTruthy } from '../json/python.ts';
import { isObject, type Json, JsonNumber, type JsonObject } from '../json/value.ts';
import { hasEnd } from '../run/end.ts';
import { parseIso } from '../time/iso.ts';
import { deliveryStateOf, isUnsent } from './delivery-state.ts';
import type { NotifyPolicy } from './policy.ts';

export type NoticeStep =
  /** Nothing will happen by itself. */
  | { readonly kind: 'settled' }
  /** Look again then; epoch milliseconds. */
  | { readonly kind: 'wait'; readonly untilMs: number }
  | { readonly kind: 'attempt' }
  /** An end or a failure of another writer: `owed` is written before anything is sent. */
  | { readonly kind: 'adopt' }
  | { readonly kind: 'park'; readonly reason: ParkReason }
  /** Until the settings that gave this hash have changed. */
  | { readonly kind: 'asleep'; readonly configHash: string };

export type ParkReason = 'expired' | 'attempts_exhausted' | 'outcome_unknown';

/** Faults of the configuration: tried again when it changes, not as time passes. */
export const CONFIG_FAULTS = new Set([
  'notifier_unusable',
  'notifier_cannot_start',
  'notifier_not_configured',
]);

export interface ClaimFacts {
  /** Its owner lives, or may, and its deadline has not passed. */
  readonly stands: boolean;
  readonly deadlineMs: number | null;
}

/** Whoever wrote an end may still be about to send its notice. */
const OTHERS_GRACE_MS = 60_000;
/** Ends and failures of other writers are taken up while they are this young: no history is announced. */
const OTHERS_WINDOW_MS = 15 * 60_000;
/** A Python observer's end whose notice was never begun. */
const OTHERS_REAP_WINDOW_MS = 48 * 3_600_000;
/** The owner of a claim is looked at this often until its deadline. */
const CLAIM_LOOK_MS = 5_000;

export function noticeStep(
  record: JsonObject,
  claim: ClaimFacts,
  nowMs: number,
  policy: NotifyPolicy,
): NoticeStep {
  const endMs = endMsOf(record);
  if (!hasEnd(record) || endMs === null) return SETTLED;
  if (claim.stands) {
    return {
      kind: 'wait',
      untilMs: Math.min(claim.deadlineMs ?? nowMs + CLAIM_LOOK_MS, nowMs + CLAIM_LOOK_MS),
    };
  }
  const delivery = record.get('notify_delivery') ?? null;
  return isOurs(delivery) ? ours(delivery, endMs, nowMs, policy) : others(record, delivery, endMs, nowMs);
}

const SETTLED: NoticeStep = { kind: 'settled' };
const ATTEMPT: NoticeStep = { kind: 'attempt' };

/** Epoch milliseconds of a run's end; null where the record has none that can be read: NaN would never expire. */
export function endMsOf(record: JsonObject): number | null {
  const end = record.get('finished_at');
  if (typeof end === 'string') return parseIso(end);
  return end instanceof JsonNumber && Number.isFinite(end.value) ? end.value * 1000 : null;
}

/** Carries our bookkeeping. */
export function isOurs(delivery: Json): delivery is JsonObject {
  return isObject(delivery) && ['owed', 'delivery_id', 'retry', 'skipped'].some((key) => delivery.has(key));
}

function ours(delivery: JsonObject, endMs: number, nowMs: number, policy: NotifyPolicy): NoticeStep {
  const parked = parkedOf(delivery);
  if (!mayGoOn(delivery, parked, policy)) return SETTLED;
  if (deliveryStateOf(delivery) === 'unknown' && !policy.retryUnknown) return park('outcome_unknown');
  const expiryMs = endMs + policy.expiresMs;
  if (attemptsOn(delivery) >= policy.maxAttempts) return park('attempts_exhausted');
  if (nowMs > expiryMs) return park('expired');
  if (parked !== null && CONFIG_FAULTS.has(parked.reason)) {
    return { kind: 'asleep', configHash: parked.configHash };
  }
  const dueMs = dueMsOf(delivery) ?? (isUnsent(delivery) ? endMs + OTHERS_GRACE_MS : nowMs);
  return nowMs < dueMs ? { kind: 'wait', untilMs: Math.min(dueMs, expiryMs) } : ATTEMPT;
}

/** Delivered, skipped, owed to nobody, or held for a person: nothing follows by itself. */
function mayGoOn(delivery: JsonObject, parked: Parked | null, policy: NotifyPolicy): boolean {
  if ((delivery.get('skipped') ?? null) !== null || pyTruthy(delivery.get('ok'))) return false;
  if (parked === null) return delivery.get('owed') === true || deliveryStateOf(delivery) === 'unknown';
  return CONFIG_FAULTS.has(parked.reason) || (parked.reason === 'outcome_unknown' && policy.retryUnknown);
}

function others(record: JsonObject, delivery: Json, endMs: number, nowMs: number): NoticeStep {
  if (record.get('spawn_state') === 'failed' || record.get('terminal_source') === 'spawn_failure')
    return SETTLED;
  if (delivery !== null && !isObject(delivery)) return SETTLED;
  const state = deliveryStateOf(delivery);
  if (state !== 'none' && state !== 'failed') return SETTLED;
  if (nowMs < endMs + OTHERS_GRACE_MS) return { kind: 'wait', untilMs: endMs + OTHERS_GRACE_MS };
  const neverBegunReap = state === 'none' && record.get('terminal_source') === 'mcp_orphan_reaper';
  const windowMs = neverBegunReap ? OTHERS_REAP_WINDOW_MS : OTHERS_WINDOW_MS;
  return nowMs <= endMs + windowMs ? { kind: 'adopt' } : SETTLED;
}

function park(reason: ParkReason): NoticeStep {
  return { kind: 'park', reason };
}

export interface Parked {
  readonly reason: string;
  readonly configHash: string;
}

/** Why nothing more is sent by itself; null where that is not so. */
export function parkedOf(delivery: Json | undefined): Parked | null {
  const retry = isObject(delivery) ? delivery.get('retry') : null;
  const parked = isObject(retry) ? retry.get('parked') : null;
  if (!isObject(parked)) return null;
  const [reason, hash] = [parked.get('reason'), parked.get('config_hash')];
  return {
    reason: typeof reason === 'string' ? reason : '',
    configHash: typeof hash === 'string' ? hash : '',
  };
}

/** When the next attempt may be made, as the record says; null: it says nothing. */
export function dueMsOf(delivery: JsonObject): number | null {
  const retry = delivery.get('retry');
  const at = (isObject(retry) ? retry.get('next_at') : undefined) ?? delivery.get('next_at');
  return typeof at === 'string' ? parseIso(at) : null;
}

export function attemptsOn(delivery: Json | undefined): number {
  const attempts = isObject(delivery) ? delivery.get('attempts') : undefined;
  return attempts instanceof JsonNumber && attempts.isInteger ? Math.max(0, attempts.value) : 0;
}
