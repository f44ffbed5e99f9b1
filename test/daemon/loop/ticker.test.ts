import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Tick, tick } from '../../../daemon/loop/ticker.ts';
import { bundleInto } from '../../support/bundle.ts';
import { inWorld } from '../../support/in-world.ts';
import { waitUntil } from '../../support/wait-until.ts';

const HOUR_MS = 3_600_000;
const PERIOD_MS = 50;

afterEach(() => vi.restoreAllMocks());

interface Ticking {
  readonly ticks: Tick[];
  readonly gaps: () => number;
  /** So many more ticks have come. */
  more(count: number): Promise<void>;
  stop(): Promise<void>;
}

function ticking(work: () => Promise<void> = async () => undefined): Ticking {
  const stop = new AbortController();
  const ticks: Tick[] = [];
  const running = tick(PERIOD_MS, stop.signal, async (each) => {
    ticks.push(each);
    await work();
  });
  return {
    ticks,
    gaps: () => ticks.filter((each) => each.afterGap).length,
    async more(count) {
      const before = ticks.length;
      await waitUntil('more ticks', () => ticks.length >= before + count);
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

describe('case 68: a wall clock that is set', () => {
  it.each([
    ['forward by an hour', HOUR_MS],
    ['back by an hour', -HOUR_MS],
    ['back by ten years', -87_600 * HOUR_MS],
  ])('%s is one gap, and no storm of ticks', async (_how, stepMs) => {
    const now = Date.now.bind(Date);
    let offsetMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + offsetMs);
    const clock = ticking();
    await clock.more(3);
    expect(clock.gaps()).toBe(0);
    offsetMs = stepMs;
    const beganMs = performance.now();
    await clock.more(10);
    expect(performance.now() - beganMs).toBeGreaterThan(8 * PERIOD_MS);
    expect(clock.gaps()).toBe(1);
    await clock.stop();
  });

  it('by less than a few seconds is none', async () => {
    const now = Date.now.bind(Date);
    let offsetMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + offsetMs);
    const clock = ticking();
    await clock.more(2);
    for (const stepMs of [2_000, -2_000]) {
      offsetMs = stepMs;
      await clock.more(2);
    }
    expect(clock.gaps()).toBe(0);
    await clock.stop();
  });
});

describe('a tick', () => {
  it('does not begin while the work of the one before goes on', async () => {
    let [atOnce, most] = [0, 0];
    const clock = ticking(async () => {
      most = Math.max(most, ++atOnce);
      await sleep(3 * PERIOD_MS);
      atOnce--;
    });
    await clock.more(3);
    expect(most).toBe(1);
    await clock.stop();
  });

  it('that is waited for is given up at once when it is to stop', async () => {
    const stop = new AbortController();
    const running = tick(60_000, stop.signal, async () => undefined);
    await sleep(20);
    const beganMs = performance.now();
    stop.abort();
    await running;
    expect(performance.now() - beganMs).toBeLessThan(1_000);
  });

  it('whose work fails ends the ticking, and that is known', async () => {
    const failing = tick(PERIOD_MS, new AbortController().signal, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
  });
});

const TICKING_PROGRAM = new URL('./ticking-program.ts', import.meta.url);

describe('case 68: a process that is stopped over more than ten due times', () => {
  it('case 68: comes once, late, not once for each: one tick after a gap', async () => {
    await inWorld(async (world) => {
      const program = spawn(process.execPath, [await bundleInto(world.work, TICKING_PROGRAM)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => program.once('exit', resolve));
      world.onDispose(async () => {
        program.kill('SIGKILL');
        await ended;
      });
      let said = '';
      program.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const lines = (): string[] => said.split('\n').filter(Boolean);
      await waitUntil('a few ticks', () => lines().length >= 3);
      program.kill('SIGSTOP');
      await sleep(7_000);
      const before = lines().length;
      program.kill('SIGCONT');
      await waitUntil('it to go on', () => lines().length >= before + 4);
      const gaps = lines().filter((line) => line.endsWith('gap'));
      expect(gaps).toHaveLength(1);
      expect(lines().length - before).toBeLessThan(10);
    });
  }, 60_000);
});
