/**
 * ADR-0106 D7: what is read from disk carries whether it could be established. `available: true` with an empty
 * value says there is none; `available: false` says nothing could be learned.
 */
export interface Available<T> {
  readonly available: boolean;
  readonly value: T | null;
  readonly reason_code: string | null;
  readonly detail: string | null;
}

export function available<T>(value: T | null): Available<T> {
  return { available: true, value, reason_code: null, detail: null };
}

export function unavailable<T>(reasonCode: string, detail: string): Available<T> {
  return { available: false, value: null, reason_code: reasonCode, detail };
}
