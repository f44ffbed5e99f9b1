import { describe, expect, it } from 'vitest';
import { cpuPercentOf, groupReading } from '../../../daemon/usage/group-usage.ts';
import type { Meter } from '../../../daemon/usage/read-meters.ts';

function meters(...all: [pid: number, cpuMs: number, ageMs: number, readMs: number][]): Map<number, Meter> {
  return new Map(all.map(([pid, cpuMs, ageMs, readMs]) => [pid, { cpuMs, rssBytes: 1, ageMs, readMs }]));
}

describe('the CPU use of a group', () => {
  it('is over the life of its oldest process where it was never read before', () => {
    expect(cpuPercentOf(meters([1, 500, 10_000, 0], [2, 250, 1_000, 0]), null)).toBe(7.5);
  });

  it('is what its processes used since the last reading', () => {
    const before = groupReading(meters([1, 500, 10_000, 1_000], [2, 100, 9_000, 1_000]));
    expect(cpuPercentOf(meters([1, 1_500, 12_000, 3_000], [2, 100, 11_000, 3_000]), before)).toBe(50);
  });

  it('counts all that a process used which began since, also one with the number of another', () => {
    const before = groupReading(meters([1, 500, 10_000, 1_000], [2, 9_000, 9_500, 1_000]));
    const now = meters([1, 500, 12_000, 3_000], [2, 400, 500, 3_000], [3, 600, 700, 3_000]);
    expect(cpuPercentOf(now, before)).toBe(50);
  });

  it('counts one that joined the group, or could not be read before, by its average', () => {
    const before = groupReading(meters([1, 0, 10_000, 1_000]));
    expect(cpuPercentOf(meters([1, 0, 12_000, 3_000], [2, 6_000, 12_000, 3_000]), before)).toBe(50);
  });

  it('goes by the last reading alone where the age of a process is told wrong', () => {
    expect(cpuPercentOf(meters([1, 90_000, -5_000_000, 1_000]), null)).toBeNull();
    const before = groupReading(meters([1, 90_000, -5_000_000, 1_000]));
    const now = meters([1, 91_000, -4_998_000, 3_000], [2, 40_000, -9_000, 3_000]);
    expect(cpuPercentOf(now, before)).toBe(50);
  });

  it('is never less than nothing', () => {
    const before = groupReading(meters([1, 510, 10_000, 1_000]));
    expect(cpuPercentOf(meters([1, 500, 12_000, 3_000]), before)).toBe(0);
  });

  it('is unknown over no time at all, and not zero', () => {
    expect(cpuPercentOf(meters([1, 0, 0, 5]), null)).toBeNull();
    const before = groupReading(meters([1, 0, 10_000, 1_000]));
    expect(cpuPercentOf(meters([1, 0, 10_000, 1_000]), before)).toBeNull();
  });
});
