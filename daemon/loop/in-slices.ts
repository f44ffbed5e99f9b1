import { setImmediate as nextTurn } from 'node:timers/promises';

/** No piece of work of ours holds the event loop longer than about this. */
export const SLICE_MS = 10;

/** Does `work` for each item, letting the loop turn in between; ends early when the signal is aborted. */
export async function inSlices<T>(
  items: Iterable<T>,
  signal: AbortSignal,
  work: (item: T) => void,
): Promise<void> {
  let beganMs = performance.now();
  for (const item of items) {
    if (performance.now() - beganMs >= SLICE_MS) {
      await nextTurn();
      if (signal.aborted) return;
      beganMs = performance.now();
    }
    work(item);
  }
}
