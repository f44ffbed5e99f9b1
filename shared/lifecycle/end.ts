import { pyFloat, pyTruthy } from '../json/python.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { formatEpochSeconds } from '../time/iso.ts';

/** A terminal end the lifecycle store reports. */
export interface LifecycleEnd {
  /** Null where the store names none: the recorded status then stays. */
  readonly status: Json;
  readonly reasonCode: Json;
  /** ISO time, or null where the store has none that can be used. */
  readonly endedAt: string | null;
}

/** The end in an answer of `li lifecycle --machine`, or null where it reports none. */
export function lifecycleEndOf(answer: Json): LifecycleEnd | null {
  const value = lifecycleValueOf(answer);
  if (value === null || !pyTruthy(value.get('terminal'))) return null;
  const status = value.get('status');
  return {
    status: pyTruthy(status) ? (status ?? null) : null,
    reasonCode: value.get('reason_code') ?? null,
    endedAt: endedAtOf(value.get('ended_at')),
  };
}

function lifecycleValueOf(answer: Json): JsonObject | null {
  if (!isObject(answer) || !pyTruthy(answer.get('ok'))) return null;
  const data = answer.get('data');
  const lifecycle = isObject(data) ? data.get('lifecycle') : null;
  if (!isObject(lifecycle) || !pyTruthy(lifecycle.get('available'))) return null;
  const value = lifecycle.get('value');
  return isObject(value) ? value : null;
}

function endedAtOf(value: Json | undefined): string | null {
  const seconds = pyFloat(value);
  return seconds === null ? null : formatEpochSeconds(seconds);
}
