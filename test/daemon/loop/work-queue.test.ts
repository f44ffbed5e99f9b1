import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { WorkQueue, type WorkQueueOptions } from '../../../daemon/loop/work-queue.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { signal } = new AbortController();

/** Work that goes on until it is let go; says how often each id was begun and how many were at work at once. */
class Bench {
  readonly begun: string[] = [];
  mostAtOnce = 0;
  mostOfOneId = 0;
  readonly #atWork = new Map<string, (() => void)[]>();

  readonly work = async (id: string): Promise<void> => {
    this.begun.push(id);
    await new Promise<void>((resolve) => {
      this.#atWork.set(id, [...(this.#atWork.get(id) ?? []), resolve]);
      const each = [...this.#atWork.values()].map((resolvers) => resolvers.length);
      this.mostAtOnce = Math.max(
        this.mostAtOnce,
        each.reduce((sum, one) => sum + one, 0),
      );
      this.mostOfOneId = Math.max(this.mostOfOneId, ...each);
    });
  };

  finish(id: string): void {
    for (const resolve of this.#atWork.get(id) ?? []) resolve();
    this.#atWork.delete(id);
  }

  finishAll(): void {
    for (const id of [...this.#atWork.keys()]) this.finish(id);
  }
}

function queueOf(options: Partial<WorkQueueOptions>): WorkQueue {
  const onFault = (_id: string, error: unknown): never => {
    throw error;
  };
  return new WorkQueue({ concurrency: 4, work: async () => undefined, onFault, ...options });
}

async function turns(): Promise<void> {
  for (let n = 0; n < 5; n++) await nextTurn();
}

describe('ids in the queue', () => {
  it('coalesce: many reasons to look are one look', async () => {
    const bench = new Bench();
    const queue = queueOf({ work: bench.work });
    for (let n = 0; n < 100; n++) queue.add('a');
    queue.add('b');
    expect([queue.waiting, queue.underWay]).toEqual([2, 0]);
    await turns();
    expect([bench.begun, queue.waiting, queue.underWay]).toEqual([['a', 'b'], 0, 2]);
    bench.finishAll();
    await queue.stop();
  });

  it('one added while it is worked is worked once more, after it, however often it was added', async () => {
    const bench = new Bench();
    const queue = queueOf({ work: bench.work });
    queue.add('a');
    await turns();
    for (let n = 0; n < 10; n++) queue.add('a');
    await turns();
    expect(bench.begun).toEqual(['a']);
    bench.finish('a');
    await turns();
    expect(bench.begun).toEqual(['a', 'a']);
    bench.finish('a');
    await turns();
    expect([bench.begun.length, bench.mostOfOneId, queue.underWay, queue.waiting]).toEqual([2, 1, 0, 0]);
  });

  it('one that adds itself before it first waits is not worked twice at once', async () => {
    const bench = new Bench();
    const queue: WorkQueue = queueOf({
      work: (id) => {
        if (bench.begun.length < 3) queue.add(id);
        return bench.work(id);
      },
    });
    queue.add('a');
    await turns();
    expect([bench.begun.length, bench.mostOfOneId]).toEqual([1, 1]);
    bench.finish('a');
    await turns();
    expect([bench.begun.length, bench.mostOfOneId]).toEqual([2, 1]);
    await waitUntil('the queue to be idle', () => {
      bench.finishAll();
      return queue.underWay === 0 && queue.waiting === 0;
    });
  });

  it('so many are worked at once and no more, and each that waits has its turn', async () => {
    const bench = new Bench();
    const queue = queueOf({ concurrency: 4, work: bench.work });
    const ids = Array.from({ length: 50 }, (_, n) => `run-${n}`);
    for (const id of ids) queue.add(id);
    await waitUntil('all', () => {
      bench.finishAll();
      return bench.begun.length === ids.length;
    });
    expect([bench.mostAtOnce, bench.begun]).toEqual([4, ids]);
    bench.finishAll();
    await queue.stop();
  });

  it('one that takes long holds up no other', async () => {
    const bench = new Bench();
    const queue = queueOf({ concurrency: 2, work: (id) => (id === 'slow' ? bench.work(id) : nextTurn()) });
    for (const id of ['slow', 'a', 'b', 'c', 'd']) queue.add(id);
    await waitUntil('the others', () => queue.waiting === 0 && queue.underWay === 1);
    bench.finishAll();
    await queue.stop();
  });
});

describe('a fault', () => {
  const failing: readonly (readonly [string, WorkQueueOptions['work']])[] = [
    ['later', async () => Promise.reject(new Error('no'))],
    [
      'before anything was waited for',
      () => {
        throw new Error('no');
      },
    ],
  ];

  it.each(failing)(
    '%s is its own: it is told, longer each time up to a minute, and the slot is free again',
    async (_when, work) => {
      const pauses: number[] = [];
      const queue = queueOf({
        concurrency: 1,
        work,
        onFault: (_id, _error, pauseMs) => pauses.push(pauseMs),
      });
      for (let n = 1; n <= 9; n++) {
        queue.add('a');
        await waitUntil('the fault', () => pauses.length === n && queue.underWay === 0, 1_000);
      }
      expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000));
    },
  );

  it('is forgotten once the work went well, and is counted for its id alone', async () => {
    const told: [string, number][] = [];
    let isWell = false;
    const queue = queueOf({
      work: async (id) => {
        if (!isWell || id === 'b') throw new Error('no');
      },
      onFault: (id, _error, pauseMs) => told.push([id, pauseMs]),
    });
    const look = async (id: string): Promise<void> => {
      queue.add(id);
      await waitUntil('the look', () => queue.waiting === 0 && queue.underWay === 0);
    };
    await look('a');
    await look('a');
    isWell = true;
    await look('a');
    isWell = false;
    await look('b');
    await look('a');
    expect(told).toEqual([
      ['a', 1_000],
      ['a', 2_000],
      ['b', 1_000],
      ['a', 1_000],
    ]);
  });
});

describe('a stopped queue', () => {
  it('takes nothing up, lets what is under way finish, and works nothing once more', async () => {
    const bench = new Bench();
    const queue = queueOf({ concurrency: 2, work: bench.work });
    for (const id of ['a', 'b', 'c']) queue.add(id);
    await turns();
    queue.add('a');
    const stopping = queue.stop().then(() => 'stopped');
    queue.add('d');
    expect(await Promise.race([stopping, sleep(50, 'under way')])).toBe('under way');
    bench.finishAll();
    expect(await stopping).toBe('stopped');
    await turns();
    expect([bench.begun, queue.waiting, queue.underWay]).toEqual([['a', 'b'], 0, 0]);
  });

  it('is begun, since nothing waits', async () => {
    const bench = new Bench();
    const queue = queueOf({ concurrency: 1, work: bench.work });
    for (const id of ['a', 'b']) queue.add(id);
    const begun = queue.begun(signal);
    await turns();
    const stopping = queue.stop();
    await begun;
    bench.finishAll();
    await stopping;
  });
});

describe('the first looks', () => {
  it('are begun when none waits any more', async () => {
    const bench = new Bench();
    const queue = queueOf({ concurrency: 1, work: bench.work });
    for (const id of ['a', 'b']) queue.add(id);
    const begun = queue.begun(signal).then(() => 'begun');
    expect(await Promise.race([begun, sleep(50, 'waiting')])).toBe('waiting');
    bench.finishAll();
    expect(await begun).toBe('begun');
    expect(bench.begun).toEqual(['a', 'b']);
    bench.finishAll();
    await queue.stop();
  });

  it('are waited for without working for it, however long they take', async () => {
    const bench = new Bench();
    const queue = queueOf({ concurrency: 1, work: bench.work });
    for (const id of ['a', 'b']) queue.add(id);
    const stop = new AbortController();
    const begun = queue.begun(stop.signal);
    await turns();
    const before = process.cpuUsage();
    await sleep(1_000);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(200);
    stop.abort();
    await begun;
    bench.finishAll();
    await turns();
    bench.finishAll();
    await queue.stop();
  });
});

describe('50,000 ids whose work never waits', () => {
  it('hold the loop for no more than about 50 ms at a time', async () => {
    let done = 0;
    const queue = queueOf({
      concurrency: 32,
      work: async () => {
        done++;
        // As long as a stat and a read of a small file.
        const untilMs = performance.now() + 0.03;
        while (performance.now() < untilMs);
      },
    });
    for (let n = 0; n < 50_000; n++) queue.add(`run-${n}`);
    const blocked: number[] = [];
    for (let last = performance.now(); queue.waiting > 0 || queue.underWay > 0; ) {
      await nextTurn();
      blocked.push(performance.now() - last);
      last = performance.now();
    }
    expect(done).toBe(50_000);
    // Others share the machine: one turn or another may have been taken from us.
    const longest = blocked.sort((a, b) => b - a)[5] as number;
    expect(longest).toBeLessThan(50);
  });
});
