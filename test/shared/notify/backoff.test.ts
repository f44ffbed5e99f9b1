import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../../shared/notify/backoff.ts';
import { DEFAULT_NOTIFY_POLICY } from '../../../shared/notify/policy.ts';

const BASE_MS = 30_000;
const CAP_MS = 3_600_000;
const boundMs = (attempts: number): number => Math.min(CAP_MS, BASE_MS * 2 ** (attempts - 1));

describe('the pause before the next attempt', () => {
  it.each([
    [1, 30_000],
    [2, 60_000],
    [3, 120_000],
    [7, 1_920_000],
    [8, 3_600_000],
    [12, 3_600_000],
    [1_000_000, 3_600_000],
  ])('after %d attempts is at most %d ms, and half of that in the middle of the jitter', (attempts, most) => {
    expect(backoffMs(attempts, 1, DEFAULT_NOTIFY_POLICY)).toBe(most);
    expect(backoffMs(attempts, 0.5, DEFAULT_NOTIFY_POLICY)).toBe(most / 2);
    expect(backoffMs(attempts, 0, DEFAULT_NOTIFY_POLICY)).toBe(0);
  });

  it('is a whole number of milliseconds within the bound of its attempt, whatever the jitter', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (n, random) => {
          const ms = backoffMs(n, random, DEFAULT_NOTIFY_POLICY);
          expect(Number.isSafeInteger(ms)).toBe(true);
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(boundMs(n));
        },
      ),
    );
  });

  it('grows with the attempts and with the jitter, never the other way', () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), random, random, (attempts, a, b) => {
        expect(backoffMs(attempts + 1, a, DEFAULT_NOTIFY_POLICY)).toBeGreaterThanOrEqual(
          backoffMs(attempts, a, DEFAULT_NOTIFY_POLICY),
        );
        expect(backoffMs(attempts, Math.max(a, b), DEFAULT_NOTIFY_POLICY)).toBeGreaterThanOrEqual(
          backoffMs(attempts, Math.min(a, b), DEFAULT_NOTIFY_POLICY),
        );
      }),
    );
  });

  it('is jittered in full: a tenth of the draws falls into each tenth of the bound', () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 10_000; n++) {
      const at = Math.min(9, Math.floor((backoffMs(3, n / 10_000, DEFAULT_NOTIFY_POLICY) / boundMs(3)) * 10));
      tenths[at] = (tenths[at] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(20);
  });

  it('twelve attempts with no luck at all take less than half a day', () => {
    const most = Array.from({ length: 11 }, (_, n) => backoffMs(n + 1, 1, DEFAULT_NOTIFY_POLICY)).reduce(
      (sum, each) => sum + each,
      0,
    );
    expect(most).toBeLessThan(12 * 3_600_000);
    expect(most).toBeGreaterThan(3 * 3_600_000);
  });
});
