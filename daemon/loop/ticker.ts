import { sleep } from '../../shared/time/sleep.ts';

/** A gap this long between two ticks, or between the two clocks: events may be lost, and times mean nothing. */
const GAP_MS = 5_000;

export interface Tick {
  /** Since the last tick the loop, the process or the machine stood still, or the wall clock was set. */
  readonly afterGap: boolean;
}

/**
 * Calls `work` once a period until the signal is aborted; a late tick comes once, not once for each one missed.
 * Gaps are seen on two clocks: the steady one stands still while the machine sleeps, the wall clock can be set,
 * forward and back.
 */
export async function tick(
  periodMs: number,
  signal: AbortSignal,
  work: (tick: Tick) => Promise<void>,
): Promise<void> {
  let last = clocks();
  while (!signal.aborted) {
    const began = clocks();
    const steadyMs = began.steadyMs - last.steadyMs;
    const apartMs = Math.abs(began.wallMs - last.wallMs - steadyMs);
    last = began;
    await work({ afterGap: Math.max(steadyMs - periodMs, apartMs) > GAP_MS });
    await sleep(Math.max(0, periodMs - (clocks().steadyMs - began.steadyMs)), signal);
  }
}

function clocks(): { steadyMs: number; wallMs: number } {
  return { steadyMs: performance.now(), wallMs: Date.now() };
}
