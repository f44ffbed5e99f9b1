import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../daemon/journal.ts';
import { type Tick, tick } from '../../daemon/loop/ticker.ts';
import { type Chore, Maintenance } from '../../daemon/maintenance.ts';
import { waitUntil } from '../support/wait-until.ts';

const HOUR_MS = 3_600_000;

function chore(run: () => Promise<void>): Chore {
  // Never due by the clock in the time of a test: what runs was made up for.
  return { name: 'tidy', at: '0 0 1 1 *', everyMs: HOUR_MS, run };
}

describe('case 68: maintenance around clocks that stand still or are set', () => {
  it('case 68: ten due times that were slept over are made up for once', async () => {
    const stop = new AbortController();
    let [steadyMs, runs] = [0, 0];
    const tidy = chore(async () => {
      runs++;
    });
    const maintenance = new Maintenance(
      [tidy],
      () => undefined,
      stop.signal,
      () => steadyMs,
    );
    maintenance.tick();
    steadyMs = 1.4 * HOUR_MS;
    maintenance.tick();
    await sleep(20);
    expect(runs).toBe(0);
    steadyMs = 10 * HOUR_MS;
    for (let n = 0; n < 5; n++) maintenance.tick();
    await waitUntil('the run that was missed', () => runs === 1);
    maintenance.tick();
    await sleep(20);
    expect(runs).toBe(1);
    stop.abort();
    await maintenance.stop();
  });

  it('case 68: a chore that fails is said, and runs again when it is due', async () => {
    const stop = new AbortController();
    let [steadyMs, runs] = [0, 0];
    const events: Event[] = [];
    const tidy = chore(async () => {
      runs++;
      throw new Error('no room');
    });
    const maintenance = new Maintenance(
      [tidy],
      (event) => events.push(event),
      stop.signal,
      () => steadyMs,
    );
    for (const hours of [2, 4]) {
      steadyMs = hours * HOUR_MS;
      maintenance.tick();
      await waitUntil('the run', () => runs === hours / 2);
    }
    await waitUntil('both to be said', () => events.length === 2);
    expect(events[0]).toMatchObject({ event: 'fault', message: 'tidy: no room' });
    stop.abort();
    await maintenance.stop();
  });

  it('case 68: a loop that is blocked over many ticks comes once, late, and says that there was a gap', async () => {
    const stop = new AbortController();
    const seen: (Tick & { atMs: number })[] = [];
    const ticking = tick(100, stop.signal, async (each) => {
      seen.push({ ...each, atMs: performance.now() });
    });
    await waitUntil('a few ticks', () => seen.length >= 3);
    const before = seen.length;
    const until = performance.now() + 5_500;
    while (performance.now() < until);
    await waitUntil('it to go on', () => seen.length >= before + 3);
    stop.abort();
    await ticking;
    const late = seen.slice(before);
    expect(late.filter((each) => each.afterGap)).toHaveLength(1);
    // Not one for each that was missed: the next ones keep their distance.
    for (let n = 2; n < late.length; n++)
      expect((late[n]?.atMs ?? 0) - (late[n - 1]?.atMs ?? 0)).toBeGreaterThan(50);
  }, 20_000);
});
