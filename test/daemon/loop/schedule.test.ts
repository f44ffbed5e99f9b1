import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Period } from '../../../daemon/loop/period.ts';
import { Schedule } from '../../../daemon/loop/schedule.ts';

describe('the schedule', () => {
  it('gives what is due, once, and keeps the rest', () => {
    const schedule = new Schedule();
    schedule.at('a', 10);
    schedule.at('b', 20);
    schedule.at('c', 30);
    expect(schedule.take(9)).toEqual([]);
    expect(schedule.take(20)).toEqual(['a', 'b']);
    expect([schedule.take(20), schedule.size]).toEqual([[], 1]);
    expect(schedule.take(1_000)).toEqual(['c']);
  });

  it('of two times for one id the earlier stands, whichever was said first', () => {
    const schedule = new Schedule();
    for (const dueMs of [50, 10, 90]) schedule.at('a', dueMs);
    expect([schedule.size, schedule.take(10), schedule.take(100)]).toEqual([1, ['a'], []]);
  });

  it('what was dropped is not due, and may be put again at a later time', () => {
    const schedule = new Schedule();
    schedule.at('a', 10);
    schedule.drop('a');
    schedule.drop('unknown');
    schedule.at('a', 40);
    expect([schedule.take(39), schedule.take(40)]).toEqual([[], ['a']]);
  });

  it('after any gap gives each id once, not once for each of its times', () => {
    const put = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 0, max: 100 }));
    fc.assert(
      fc.property(fc.array(put, { minLength: 1 }), (puts) => {
        const schedule = new Schedule();
        for (const [id, dueMs] of puts) schedule.at(id, dueMs);
        const ids = new Set(puts.map(([id]) => id));
        expect(new Set(schedule.take(1_000_000))).toEqual(ids);
        expect([schedule.take(1_000_000), schedule.size]).toEqual([[], 0]);
      }),
    );
  });
});

describe('a period', () => {
  it('is due at once, then each time it is over, however late it is asked', () => {
    const period = new Period(100);
    expect(period.isDue(0)).toBe(true);
    period.restart(0);
    expect([period.isDue(99), period.isDue(100), period.isDue(10_000)]).toEqual([false, true, true]);
    period.restart(10_000);
    expect([period.isDue(10_099), period.isDue(10_100)]).toEqual([false, true]);
  });
});
