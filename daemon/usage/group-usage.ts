import type { Meter } from './read-meters.ts';

/** What a group had used when it was last read. */
export interface GroupReading {
  /** On the clock of `performance.now()`. */
  readonly readMs: number;
  /** CPU time of each process since it began. */
  readonly cpuMs: ReadonlyMap<number, number>;
}

export function groupReading(meters: ReadonlyMap<number, Meter>): GroupReading {
  return {
    readMs: Math.max(...[...meters.values()].map((meter) => meter.readMs)),
    cpuMs: new Map([...meters].map(([pid, meter]) => [pid, meter.cpuMs])),
  };
}

/**
 * CPU use of a group since it was last read, 100 for one CPU, to a tenth; without an earlier reading since its
 * oldest process began. Null for no time at all. What a process used that began and ended in between is not seen.
 */
export function cpuPercentOf(meters: ReadonlyMap<number, Meter>, before: GroupReading | null): number | null {
  const spanMs =
    before === null
      ? Math.max(...[...meters.values()].map((meter) => meter.ageMs))
      : groupReading(meters).readMs - before.readMs;
  if (spanMs <= 0) return null;
  let usedMs = 0;
  for (const [pid, meter] of meters) usedMs += usedWithin(spanMs, meter, before?.cpuMs.get(pid));
  return Math.round((usedMs / spanMs) * 1000) / 10;
}

/** One younger than the span began in it, whoever had its number before. */
function usedWithin(spanMs: number, { cpuMs, ageMs }: Meter, beforeMs: number | undefined): number {
  // Below zero it is no guide: a container may be told an uptime that start times do not count from.
  if (ageMs >= 0 && ageMs <= spanMs) return cpuMs;
  if (beforeMs !== undefined) return Math.max(0, cpuMs - beforeMs);
  // One that joined the group, or could not be read before: as much as on its average.
  return ageMs > 0 ? cpuMs * (spanMs / ageMs) : 0;
}
