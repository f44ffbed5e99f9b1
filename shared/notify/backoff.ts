import type { NotifyPolicy } from './policy.ts';

/**
 * Exponential backoff with full jitter. `attempts` made so far, `random` from 0 up to 1: milliseconds to the
 * next one.
 */
export function backoffMs(attempts: number, random: number, policy: NotifyPolicy): number {
  const { backoffBaseMs, backoffCapMs } = policy;
  return Math.round(Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.min(attempts - 1, 30)) * random);
}

/** Where the last attempts fall, as parts of the time the series is to last. */
const LAST_PARTS = [1 / 4, 1 / 2, 1] as const;
/** An attempt that is due at the very expiry would come too late. */
const LAST_CHANCE_MS = 60_000;

/**
 * When the next attempt is due, in epoch milliseconds, at the expiry at most. The backoff alone would be over in a few hours; the last
 * three attempts wait for a quarter, a half and the whole of `lastsMs` after the end, so that a laptop that was
 * offline for a day still gets its notice, within the same number of attempts (docs/decisions/0008).
 */
export function nextAttemptMs(
  facts: { readonly attempts: number; readonly endMs: number; readonly nowMs: number },
  random: number,
  policy: NotifyPolicy,
): number {
  const expiryMs = facts.endMs + policy.expiresMs;
  const backedOff = Math.min(facts.nowMs + backoffMs(facts.attempts, random, policy), expiryMs);
  const part = LAST_PARTS[facts.attempts - (policy.maxAttempts - LAST_PARTS.length)] ?? 0;
  if (part === 0 || policy.lastsMs === 0) return backedOff;
  const spread = Math.round(policy.lastsMs * part + policy.backoffCapMs * random);
  return Math.max(backedOff, Math.min(facts.endMs + spread, expiryMs - LAST_CHANCE_MS));
}
