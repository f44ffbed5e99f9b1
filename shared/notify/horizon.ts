/** An inferred end older than this announces no history: its notice can be sent by hand (design 7). */
const HORIZON_MS = 72 * 3600 * 1000;

export interface SignsOfLife {
  readonly submittedAtMs: number | null;
  readonly logMtimeMs: number | null;
  readonly recordMtimeMs: number | null;
  /** The observer saw the run alive before it saw it gone. */
  readonly seenAlive: boolean;
}

/** Was the run's last sign of life so long ago that nobody is waiting for word of its end? */
export function isBeyondHorizon(signs: SignsOfLife, nowMs: number): boolean {
  if (signs.seenAlive) return false;
  const times = [signs.submittedAtMs, signs.logMtimeMs, signs.recordMtimeMs].filter((time) => time !== null);
  return times.length > 0 && nowMs - Math.max(...times) > HORIZON_MS;
}
