import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../daemon/journal.ts';
import { retain, retentionChore } from '../../daemon/retention.ts';
import { ConfigError, loadConfig } from '../../shared/config.ts';
import { DEFAULT_CONFIG } from '../../shared/config-defaults.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { newRunIds } from '../support/new-run-id.ts';
import { DELIVERIES } from '../support/notices-of-all-sorts.ts';
import { startPythonWriter } from '../support/python-writer.ts';
import { jsonObject, layEnded, layLive, secondsAgo } from '../support/runs-of-all-sorts.ts';
import type { World } from '../support/world.ts';

const DAY_S = 86_400;
const HOUR_MS = 3_600_000;
const { signal } = new AbortController();
const runIdOf = newRunIds();

function layDaysAgo(world: World, ...days: number[]): void {
  for (const [n, ago] of days.entries())
    layEnded(world, runIdOf(n), 'completed', { finished_at: secondsAgo(ago * DAY_S) });
}

async function engineWith(world: World, retention: string): Promise<Engine> {
  configure(world, retention);
  const { engine, configFault } = await openEngine(world.env, world.cwd, signal);
  expect(configFault).toBeNull();
  return engine;
}

describe('the retention of a supervisor', () => {
  it('removes nothing as it comes, however old, and does not even list the store', async () => {
    await inWorld(async (world) => {
      layDaysAgo(world, 4_000);
      for (const text of ['', 'retention: {}', 'watch: false']) {
        expect(await retain(await engineWith(world, text), signal)).toEqual({ removed: 0, bytes: 0 });
      }
      expect(readdirSync(world.jobs)).toEqual([runIdOf(0)]);
      rmSync(world.jobs, { recursive: true });
      writeFileSync(world.jobs, 'what cannot be listed');
      expect(await retain(await engineWith(world, ''), signal)).toEqual({ removed: 0, bytes: 0 });
    });
  });

  it.each([
    ['older_than_days: 30', [2, 3]],
    ['older_than_days: 39.5', [1, 2, 3]],
    ['keep_runs: 3', [1, 2, 3]],
    ['older_than_days: 30, keep_runs: 3', [1, 2, 3]],
    ['max_size_gb: 0.0015', [3]],
    ['max_size_gb: 1', [0, 1, 2, 3]],
  ])('with %s these runs of four stay: %j', async (text, left) => {
    await inWorld(async (world) => {
      layDaysAgo(world, 50, 39, 20, 2);
      for (const name of readdirSync(world.jobs))
        writeFileSync(join(world.jobs, name, 'console.log'), 'x'.repeat(1024 ** 2));
      const { removed, bytes } = await retain(await engineWith(world, `retention: {${text}}`), signal);
      expect(readdirSync(world.jobs).sort()).toEqual(left.map(runIdOf));
      expect(removed).toBe(4 - left.length);
      expect(bytes >= removed * 1024 ** 2).toBe(true);
    });
  });

  it('never forces: what lives, is damaged, undelivered or locked stays', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      layDaysAgo(world, 50, 50, 50, 50);
      writeFileSync(join(world.jobs, runIdOf(0), 'job.json'), '{');
      const notify_delivery = jsonObject(DELIVERIES.parked);
      layEnded(world, runIdOf(1), 'completed', { finished_at: secondsAgo(50 * DAY_S), notify_delivery });
      await layLive(world, runIdOf(4), { finished_at: secondsAgo(50 * DAY_S), status: 'completed' });
      await writer.ask({ do: 'hold', run_dirs: [join(world.jobs, runIdOf(2))] });
      expect(await retain(await engineWith(world, 'retention: {keep_runs: 1}'), signal)).toMatchObject({
        removed: 1,
      });
      expect(readdirSync(world.jobs).sort()).toEqual([0, 1, 2, 4].map(runIdOf));
    });
  });

  it('lets the loop turn all along, a run with many files included, and ends when the supervisor does', async () => {
    await inWorld(async (world) => {
      layDaysAgo(world, ...Array.from({ length: 100 }, () => 50));
      const large = join(world.jobs, runIdOf(0), 'artifacts');
      mkdirSync(large);
      for (let n = 0; n < 10_000; n++) writeFileSync(join(large, `${n}`), '');
      const stop = new AbortController();
      const engine = await engineWith(world, 'retention: {keep_runs: 1}');
      let [turns, before] = [0, performance.now()];
      const holds: number[] = [];
      const timer = setInterval(() => {
        holds.push(performance.now() - before);
        before = performance.now();
        turns += 1;
        if (readdirSync(world.jobs).length < 60) stop.abort();
      }, 1);
      const { removed } = await retain(engine, stop.signal);
      clearInterval(timer);
      expect(readdirSync(world.jobs)).toHaveLength(100 - removed);
      expect(removed).toBeGreaterThan(40);
      expect(removed).toBeLessThan(99);
      expect(turns).toBeGreaterThan(10);
      // One look at all processes, or one slice of a large directory.
      expect(Math.max(...holds)).toBeLessThan(500);
    });
  });
});

describe('the chore of it', () => {
  it('does its work at the first hour it is asked and then once a day, and tells of what it removed', async () => {
    await inWorld(async (world) => {
      const engine = await engineWith(world, 'retention: {older_than_days: 30}');
      const events: Event[] = [];
      let steadyMs = 5_000;
      const chore = retentionChore(
        engine,
        (event) => events.push(event),
        () => steadyMs,
      );
      const left: number[] = [];
      for (let hour = 0; hour < 49; hour++) {
        layDaysAgo(world, 50);
        await chore.run(signal);
        left.push(readdirSync(world.jobs).length);
        steadyMs += HOUR_MS;
      }
      expect(left.flatMap((runs, hour) => (runs === 0 ? [hour] : []))).toEqual([0, 24, 48]);
      const pruned = { event: 'pruned', runs: 1, bytes: expect.any(Number) };
      expect(events).toEqual([pruned, pruned, pruned]);
      await retentionChore(engine, (event) => events.push(event)).run(signal);
      expect(events).toHaveLength(3);
    });
  });

  it('goes by the configuration of the moment', async () => {
    await inWorld(async (world) => {
      layDaysAgo(world, 50);
      let config = DEFAULT_CONFIG;
      const engine: Engine = {
        ...(await engineWith(world, '')),
        get config() {
          return config;
        },
      };
      const [first, second] = [
        retentionChore(engine, () => undefined),
        retentionChore(engine, () => undefined),
      ];
      await first.run(signal);
      expect(readdirSync(world.jobs)).toHaveLength(1);
      config = { ...config, retention: { ...config.retention, olderThanMs: 1 } };
      await second.run(signal);
      expect(readdirSync(world.jobs)).toEqual([]);
    });
  });
});

describe('retention of liond.yaml', () => {
  it('is read in days, runs and gigabytes of 1024', async () => {
    await inWorld(async (world) => {
      const engine = await engineWith(
        world,
        'retention: {older_than_days: 1.5, keep_runs: 10, max_size_gb: 0.5}',
      );
      expect(engine.config.retention).toEqual({
        olderThanMs: 36 * HOUR_MS,
        keepNewest: 10,
        maxBytes: 512 * 1024 ** 2,
      });
    });
  });

  it.each([
    ['older_than_days: 0', 'retention.older_than_days takes 1 to 36500'],
    ['older_than_days: 30d', 'retention.older_than_days takes 1 to 36500'],
    ['keep_runs: 0', 'retention.keep_runs takes a whole number from 1 to 10000000'],
    ['keep_runs: 1.5', 'retention.keep_runs takes a whole number from 1 to 10000000'],
    ['max_size_gb: 0', 'retention.max_size_gb takes 0.001 to 1000000'],
    ['days: 30', 'unknown key retention.days; it takes retention.older_than_days, retention.keep_runs'],
  ])('refuses %s, naming the key and what it takes', async (text, message) => {
    await inWorld(async (world) => {
      configure(world, `retention: {${text}}`);
      const loading = loadConfig(join(world.lionagiHome, 'mcp', 'liond.yaml'));
      await expect(loading).rejects.toThrow(ConfigError);
      await expect(loading).rejects.toThrow(message);
    });
  });
});
