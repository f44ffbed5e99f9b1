import { pyTruthy } from '../json/python.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';

/** One word for lists about the last attempt. */
export type DeliveryState = 'none' | 'delivered' | 'delivered_unverified' | 'failed' | 'unknown';
/** What is still to come, beside it; null: nothing. */
export type RetryState = 'owed' | 'retrying' | 'parked' | 'skipped' | null;

export function deliveryStateOf(delivery: Json | undefined): DeliveryState {
  if (!isObject(delivery)) return 'none';
  const unverified = delivery.get('delivery_verified') === false;
  if (pyTruthy(delivery.get('ok'))) return unverified ? 'delivered_unverified' : 'delivered';
  if (!pyTruthy(delivery.get('attempted')) && !pyTruthy(delivery.get('error'))) return 'none';
  if ((delivery.get('ok') ?? null) === null) return 'unknown';
  return unverified ? 'unknown' : 'failed';
}

export function retryStateOf(delivery: Json | undefined): RetryState {
  if (!isObject(delivery)) return null;
  if ((delivery.get('skipped') ?? null) !== null) return 'skipped';
  const retry = delivery.get('retry');
  if (isObject(retry) && isObject(retry.get('parked'))) return 'parked';
  if (isObject(retry) && typeof retry.get('next_at') === 'string') return 'retrying';
  return delivery.get('owed') === true && isUnsent(delivery) ? 'owed' : null;
}

/** No attempt has begun: nothing of it can have reached anyone. */
export function isUnsent(delivery: JsonObject): boolean {
  return !pyTruthy(delivery.get('attempted')) && !pyTruthy(delivery.get('ok'));
}
