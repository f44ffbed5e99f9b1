import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, nextAttemptMs } from '../../../shared/notify/backoff.ts';
import { DEFAULT_NOTIFY_POLICY, type NotifyPolicy } from '../../../shared/notify/policy.ts';

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

/** Drives a whole series that fails each time; times after the end at which attempts are made, in milliseconds. */
function series(random: number, policy: NotifyPolicy, failsForMs = Number.POSITIVE_INFINITY): number[] {
  const times = [60_000];
  for (let attempts = 1; attempts < policy.maxAttempts; attempts++) {
    const nowMs = times.at(-1) as number;
    if (nowMs >= failsForMs) break;
    times.push(nextAttemptMs({ attempts, endMs: 0, nowMs }, random, policy));
  }
  return times;
}

const DAY_MS = 24 * 3_600_000;
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true });

describe('case 44: the attempts at one notice', () => {
  it('last at least a day by default, with no luck and with all of it, and end within the 48 h', () => {
    fc.assert(
      fc.property(anyRandom, (random) => {
        const times = series(random, DEFAULT_NOTIFY_POLICY);
        expect(times).toHaveLength(12);
        expect(times.at(-1)).toBeGreaterThanOrEqual(DAY_MS);
        expect(times.at(-1)).toBeLessThanOrEqual(DAY_MS + CAP_MS);
      }),
    );
  });

  it('stand further and further apart, to the cap, and the last three are spread over the day', () => {
    const times = series(0.5, DEFAULT_NOTIFY_POLICY);
    const gaps = times.slice(1).map((each, n) => each - (times[n] as number));
    expect(gaps.slice(0, 8)).toEqual(
      [15, 30, 60, 120, 240, 480, 960, 1_800].map((seconds) => seconds * 1_000),
    );
    expect(times.slice(9).map((each) => each / 3_600_000)).toEqual([6.5, 12.5, 24.5]);
  });

  it('outlive an outage of 3 h, whatever the jitter', () => {
    fc.assert(
      fc.property(anyRandom, (random) => {
        const times = series(random, DEFAULT_NOTIFY_POLICY, 3 * 3_600_000);
        expect(times.at(-1)).toBeGreaterThanOrEqual(3 * 3_600_000);
        expect(times.length).toBeLessThanOrEqual(12);
      }),
    );
  });

  it('one that slept over all its times makes one attempt for them, and has the others left', () => {
    const wokeMs = 20 * 3_600_000;
    const nextMs = nextAttemptMs({ attempts: 3, endMs: 0, nowMs: wokeMs }, 0.5, DEFAULT_NOTIFY_POLICY);
    expect(nextMs).toBe(wokeMs + backoffMs(3, 0.5, DEFAULT_NOTIFY_POLICY));
  });

  it('lasting for 0 h they follow the backoff alone', () => {
    const policy = { ...DEFAULT_NOTIFY_POLICY, lastsMs: 0 };
    fc.assert(
      fc.property(anyRandom, fc.integer({ min: 1, max: 11 }), (random, attempts) => {
        const nowMs = 1_000;
        const nextMs = nextAttemptMs({ attempts, endMs: 0, nowMs }, random, policy);
        expect(nextMs).toBe(nowMs + backoffMs(attempts, random, policy));
      }),
    );
  });

  it('are never due later than the notice expires, nor earlier than the backoff says within that', () => {
    const policies = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 100 }),
      lastsMs: fc.integer({ min: 0, max: 2 * DAY_MS }),
      expiresMs: fc.integer({ min: 0, max: 2 * DAY_MS }),
      backoffCapMs: fc.integer({ min: 10, max: DAY_MS }),
    });
    const facts = fc.record({
      attempts: fc.integer({ min: 1, max: 100 }),
      nowMs: fc.integer({ min: 0, max: 2 * DAY_MS }),
    });
    fc.assert(
      fc.property(facts, anyRandom, policies, (fact, random, given) => {
        const policy = { ...DEFAULT_NOTIFY_POLICY, ...given };
        const nextMs = nextAttemptMs({ ...fact, endMs: 0 }, random, policy);
        const backedOff = fact.nowMs + backoffMs(fact.attempts, random, policy);
        expect(nextMs).toBeLessThanOrEqual(policy.expiresMs);
        expect(nextMs).toBeGreaterThanOrEqual(Math.min(backedOff, policy.expiresMs));
      }),
      { numRuns: 2_000 },
    );
  });

  it('the last one of a series that lasts to the expiry is due while it can still be made', () => {
    const policy = { ...DEFAULT_NOTIFY_POLICY, lastsMs: 2 * DAY_MS, expiresMs: 2 * DAY_MS };
    expect(series(0.5, policy).at(-1)).toBeLessThan(2 * DAY_MS);
  });
});
