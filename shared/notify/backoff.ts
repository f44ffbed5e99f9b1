const BASE_MS = 30_000;
const CAP_MS = 3_600_000;

/**
 * Exponential backoff with full jitter. `attempts` made so far, `random` from 0 up to 1: milliseconds to the
 * next one.
 */
export function backoffMs(attempts: number, random: number): number {
  return Math.round(Math.min(CAP_MS, BASE_MS * 2 ** Math.min(attempts - 1, 30)) * random);
}
