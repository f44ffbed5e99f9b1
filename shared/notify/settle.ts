import type { Json, JsonObject } from '../json/value.ts';
import { toJson } from '../json/value.ts';
import { formatIso } from '../time/iso.ts';
import { nextAttemptMs } from './backoff.ts';
import type { DeliveryResult } from './deliver.ts';
import type { NotifierSource } from './notifier.ts';
import type { NotifyPolicy } from './policy.ts';

export interface Attempted {
  readonly result: DeliveryResult;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly source: NotifierSource;
  readonly configHash: string;
  /** The supervisor's environment is there at the next attempt too; a hook's or a shell's is not. */
  readonly environmentLasts: boolean;
  readonly endMs: number;
  readonly nowMs: number;
  /** From 0 up to 1. */
  readonly random: number;
}

/** What goes on the record after an attempt: how it went, and what is to follow. */
export function settledDelivery(attempted: Attempted, policy: NotifyPolicy): JsonObject {
  const { result, deliveryId, attempt } = attempted;
  const retry = retryOf(attempted, policy);
  const bookkeeping = toJson({
    owed: retry !== null,
    delivery_id: deliveryId,
    attempts: attempt,
    ...(retry === null ? {} : { retry }),
  });
  return new Map<string, Json>([...result.delivery, ...(bookkeeping as JsonObject)]);
}

type Retry =
  | { readonly next_at: string }
  | { readonly parked: { readonly reason: string; readonly config_hash: string } };

function retryOf(attempted: Attempted, policy: NotifyPolicy): Retry | null {
  const { result, source, environmentLasts } = attempted;
  if (result.failure === null) return null;
  const parked = (reason: string): Retry => ({ parked: { reason, config_hash: attempted.configHash } });
  if (result.failure === 'unknown' && !policy.retryUnknown) return parked('outcome_unknown');
  // A later attempt cannot know a command that only a hook or its environment had.
  if (source === 'hook' || (source === 'environment' && !environmentLasts))
    return parked('command_not_on_record');
  if (result.failure === 'fault') return parked('notifier_cannot_start');
  if (attempted.attempt >= policy.maxAttempts) return parked('attempts_exhausted');
  const { attempt: attempts, endMs, nowMs, random } = attempted;
  return { next_at: formatIso(nextAttemptMs({ attempts, endMs, nowMs }, random, policy)) };
}
