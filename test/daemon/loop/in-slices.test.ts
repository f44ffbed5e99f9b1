import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inSlices } from '../../../daemon/loop/in-slices.ts';

function spin(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

const { signal } = new AbortController();

describe('work in slices', () => {
  it('is done for each item, in order', async () => {
    const done: number[] = [];
    const items = Array.from({ length: 1_000 }, (_, n) => n);
    await inSlices(items, signal, (n) => {
      spin(0.05);
      done.push(n);
    });
    expect(done).toEqual(items);
  });

  it('lets the loop turn all along', async () => {
    let [turns, isDone] = [0, false];
    const sliced = inSlices(Array.from({ length: 200 }), signal, () => spin(1)).then(() => {
      isDone = true;
    });
    while (!isDone) {
      await nextTurn();
      turns++;
    }
    await sliced;
    expect(turns).toBeGreaterThan(10);
  });

  it('little of it is done at once, without waiting for a turn', async () => {
    const done: number[] = [];
    const sliced = inSlices([1, 2, 3], signal, (n) => void done.push(n));
    expect(done).toEqual([1, 2, 3]);
    await sliced;
  });

  it('ends between two items when it is to stop', async () => {
    const stop = new AbortController();
    let done = 0;
    await inSlices(Array.from({ length: 1_000 }), stop.signal, () => {
      spin(1);
      done++;
      if (done === 25) stop.abort();
    });
    expect(done).toBeGreaterThanOrEqual(25);
    expect(done).toBeLessThan(100);
  });

  it('goes over a list that changes meanwhile: what left is not done, what came is', async () => {
    const items = new Map(Array.from({ length: 100 }, (_, n) => [`run-${n}`, n]));
    const done: string[] = [];
    const sliced = inSlices(items.keys(), signal, (id) => {
      spin(1);
      done.push(id);
    });
    await nextTurn();
    items.delete('run-99');
    items.set('late', 0);
    await sliced;
    expect([done.length, done.at(-1), done.includes('run-99')]).toEqual([100, 'late', false]);
  });

  it('what the work throws ends it, and is thrown', async () => {
    const failing = inSlices([1, 2], signal, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
  });
});
