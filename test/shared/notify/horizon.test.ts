import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBeyondHorizon } from '../../../shared/notify/horizon.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 7, 1);
const ago = (hours: number | null): number | null => (hours === null ? null : NOW - hours * HOUR_MS);

/** Hours since it was submitted, since its log and its record were written. */
const CASES: readonly (readonly [
  string,
  readonly [number | null, number | null, number | null],
  boolean,
  boolean,
])[] = [
  ['all old', [100, 100, 100], false, true],
  ['all old, and it was seen alive', [100, 100, 100], true, false],
  ['just within', [72, 72, 72], false, false],
  ['just past', [72.001, 72.001, 72.001], false, true],
  ['submitted long ago, its log is fresh', [1000, 1, 1000], false, false],
  ['submitted long ago, its record is fresh', [1000, null, 1], false, false],
  ['submitted now, its files are old', [0, 1000, 1000], false, false],
  ['no log', [100, null, 100], false, true],
  ['only a record', [null, null, 100], false, true],
  ['no sign at all', [null, null, null], false, false],
  ['a clock ahead of ours', [-5, 100, 100], false, false],
];

describe('old history is not announced', () => {
  it.each(CASES)('%s', (_what, [submitted, log, record], seenAlive, beyond) => {
    const signs = {
      submittedAtMs: ago(submitted),
      logMtimeMs: ago(log),
      recordMtimeMs: ago(record),
      seenAlive,
    };
    expect(isBeyondHorizon(signs, NOW)).toBe(beyond);
  });

  it('depends on the newest sign alone, and one more sign never makes it older', () => {
    const sign = fc.option(fc.integer({ min: -10, max: 200 }));
    fc.assert(
      fc.property(sign, sign, sign, (a, b, c) => {
        const beyond = (signs: (number | null)[]): boolean =>
          isBeyondHorizon(
            {
              submittedAtMs: ago(signs[0] ?? null),
              logMtimeMs: ago(signs[1] ?? null),
              recordMtimeMs: ago(signs[2] ?? null),
              seenAlive: false,
            },
            NOW,
          );
        const known = [a, b, c].filter((each) => each !== null);
        expect(beyond([a, b, c])).toBe(known.length > 0 && Math.min(...known) > 72);
        expect(beyond([a, b, c])).toBe(beyond([c, a, b]));
        if (known.length > 0 && !beyond([a, b, null]))
          expect(beyond([a, b, c]) && (a ?? b) !== null).toBe(false);
      }),
    );
  });
});
