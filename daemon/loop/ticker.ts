import { sleep } from '../../shared/time/sleep.ts';

/** A gap this long between two ticks: the process was frozen, starved or asleep, and events may be lost. */
const GAP_MS = 5_000;

export interface Tick {
  /** The loop, the process or the machine stood still since the last tick. */
  readonly afterGap: boolean;
}

/**
 * Calls `work` once a period until the signal is aborted; a late tick comes once, not once for each one missed.
 * Gaps are seen on both clocks: one stands still while the machine sleeps, the other can be set.
 */
export async function tick(
  periodMs: number,
  signal: AbortSignal,
  work: (tick: Tick) => Promise<void>,
): Promise<void> {
  let last = clocks();
  while (!signal.aborted) {
    const began = clocks();
    const gapMs = Math.max(began.steadyMs - last.steadyMs, began.wallMs - last.wallMs);
    last = began;
    await work({ afterGap: gapMs - periodMs > GAP_MS });
    await sleep(Math.max(0, periodMs - (clocks().steadyMs - began.steadyMs)), signal);
  }
}

function clocks(): { steadyMs: number; wallMs: number } {
  return { steadyMs: performance.now(), wallMs: Date.now() };
}
