import type { JsonObject } from '../json/value.ts';
import { hasEnd } from '../run/end.ts';
import { deliveryStateOf, retryStateOf } from './delivery-state.ts';
import { type ClaimFacts, noticeStep, parkedOf } from './next-step.ts';
import type { NotifyPolicy } from './policy.ts';

export interface Next {
  readonly step: 'not_ended' | 'under_way' | 'wait' | 'attempt' | 'adopt' | 'park' | 'asleep' | 'nothing';
  /** Epoch milliseconds from which on, or until when; null: no time is set. */
  readonly atMs: number | null;
  readonly reason: string | null;
  readonly words: string;
}

/** What happens next about a run's notice, and who has to be there for it, for a person. */
export function nextOf(record: JsonObject, claim: ClaimFacts, nowMs: number, policy: NotifyPolicy): Next {
  if (!hasEnd(record)) return next('not_ended', 'nothing is sent before its end is on the record');
  if (claim.stands) {
    return { ...next('under_way', 'it is being sent'), atMs: claim.deadlineMs };
  }
  const step = noticeStep(record, claim, nowMs, policy);
  const reason = parkedOf(record.get('notify_delivery'))?.reason ?? null;
  switch (step.kind) {
    case 'wait':
      return { ...next('wait', 'liond sends it when its time has come'), atMs: step.untilMs };
    case 'attempt':
      return next('attempt', 'it is due: liond sends it, if it runs');
    case 'adopt':
      return next('adopt', 'another program left it unsent or failed: liond sends it, if it runs');
    case 'park':
      return { ...next('park', `nothing is sent by itself any more: ${step.reason}`), reason: step.reason };
    case 'asleep':
      return { ...next('asleep', 'liond sends it when its configuration has changed'), reason };
    case 'settled':
      return { ...next('nothing', settledInWords(record, reason)), reason };
  }
}

function next(step: Next['step'], words: string): Next {
  return { step, atMs: null, reason: null, words };
}

function settledInWords(record: JsonObject, parkedReason: string | null): string {
  const delivery = record.get('notify_delivery');
  if (parkedReason !== null) return `nothing by itself: ${parkedReason}`;
  if (retryStateOf(delivery) === 'skipped') return 'nothing by itself: such an end is not announced';
  switch (deliveryStateOf(delivery)) {
    case 'delivered':
      return 'nothing: it was delivered';
    case 'delivered_unverified':
      return 'nothing: its notifier said it was delivered, which proves little';
    case 'unknown':
      return 'nothing by itself: it may have arrived';
    case 'failed':
      return 'nothing by itself: it failed for good';
    case 'none':
      return 'nothing: none is owed';
  }
}
