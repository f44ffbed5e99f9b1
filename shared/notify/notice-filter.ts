import type { Json } from '../json/value.ts';
import { deliveryStateOf, retryStateOf } from './delivery-state.ts';

/** What a list of notices may be narrowed to: a delivery state or a retry state. */
export const NOTICE_STATES = [
  'owed',
  'retrying',
  'parked',
  'skipped',
  'failed',
  'unknown',
  'delivered',
] as const;
export type NoticeState = (typeof NOTICE_STATES)[number];

/** Is something of it still open: to be sent, held for a person, failed for good, or perhaps not arrived? */
export function isUnsettled(delivery: Json | undefined): boolean {
  const retry = retryStateOf(delivery);
  if (retry !== null) return retry !== 'skipped';
  const state = deliveryStateOf(delivery);
  return state === 'failed' || state === 'unknown';
}

/** A parked failure is both parked and failed; what was delivered unverified was delivered. */
export function isInState(delivery: Json | undefined, wanted: NoticeState): boolean {
  return isNoticeIn(deliveryStateOf(delivery), retryStateOf(delivery), wanted);
}

/** As `isInState`, of the two words that stand for the notice. */
export function isNoticeIn(delivery: string | null, retry: string | null, wanted: NoticeState): boolean {
  if (wanted === 'delivered') return delivery === 'delivered' || delivery === 'delivered_unverified';
  return delivery === wanted || retry === wanted;
}

/**
 * May it be sent again without being named? What may have arrived only where that was asked for (`unknown`),
 * what has arrived never.
 */
export function isSentUnnamed(delivery: Json | undefined, wanted: NoticeState | null): boolean {
  if (wanted !== null && !isInState(delivery, wanted)) return false;
  switch (deliveryStateOf(delivery)) {
    case 'unknown':
      return wanted === 'unknown';
    case 'delivered':
    case 'delivered_unverified':
      return false;
    case 'none':
    case 'failed':
      return wanted === 'skipped' || isUnsettled(delivery);
  }
}
