import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { type HeldInstance, holdInstance } from '../../daemon/instance.ts';
import { lookAtInstance, takeInstanceLock } from '../../shared/daemon/instance-lock.ts';
import { inWorld } from '../support/in-world.ts';
import { installInto } from '../support/install.ts';
import { askData } from '../support/machine.ts';
import { startSleeper } from '../support/processes.ts';
import { layEnded, layGone, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { spawnSupervisor, startSupervisor, supervisorLog } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const NOTE = { pid: process.pid, version: '0.1.0', startedAt: '2026-12-01T12:00:00+00:00' };
const NEVER = new AbortController().signal;
const OTHER = { ...NOTE, pid: 4711 };

async function held(stateDir: string): Promise<HeldInstance> {
  const answer = await holdInstance(stateDir, NOTE, NEVER);
  if (!('held' in answer)) throw new Error('held by another');
  return answer.held;
}

const stateOf = (world: World): string => join(world.lionagiHome, 'mcp', 'liond');
const lockOf = (world: World): string => join(stateOf(world), 'instance.lock');

function eventsOf(world: World): Record<string, unknown>[] {
  return supervisorLog(world)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the lock of the one supervisor, looked at again and again', () => {
  it('is held, taken again where its file went, and lost where another has it', async () => {
    await inWorld(async ({ work }) => {
      const instance = await held(work);
      expect(await instance.check()).toBe('held');
      rmSync(join(work, 'instance.lock'));
      expect(await instance.check()).toBe('retaken');
      expect(await instance.check()).toBe('held');
      expect(await lookAtInstance(work)).toEqual({ running: true, ...NOTE });
      rmSync(join(work, 'instance.lock'));
      const other = await takeInstanceLock(work, OTHER, { waitMs: 0, signal: NEVER });
      expect(await instance.check()).toBe('lost');
      if ('taken' in other) other.taken.release();
      instance.release();
    });
  });

  it('a file that was replaced and that nobody holds is taken', async () => {
    await inWorld(async ({ work }) => {
      const instance = await held(work);
      renameSync(join(work, 'instance.lock'), join(work, 'away'));
      writeFileSync(join(work, 'instance.lock'), '');
      expect(await instance.check()).toBe('retaken');
      expect(await lookAtInstance(work)).toMatchObject({ running: true, pid: process.pid });
      instance.release();
    });
  });

  it('one that cannot be made again now is a degradation with cause and cure', async () => {
    await inWorld(async ({ work }) => {
      const state = join(work, 'state');
      const instance = await held(state);
      rmSync(state, { recursive: true });
      writeFileSync(state, '');
      expect(await instance.check()).toEqual({
        code: 'instance_lock_missing',
        cause: expect.stringMatching(/EEXIST|ENOTDIR/),
        cure: expect.stringMatching(/\w/),
      });
      rmSync(state);
      expect(await instance.check()).toBe('retaken');
      instance.release();
    });
  });
});

describe('case 60: one supervisor a store', () => {
  it('case 60: a second start says who is there and ends with a status of its own; the first goes on', async () => {
    await inWorld(async (world) => {
      const first = await startSupervisor(world);
      const second = spawnSupervisor(world);
      expect((await second.ended()).exitCode).toBe(75);
      expect(second.said()).toBe('');
      expect(second.complained()).toMatch(
        new RegExp(`^liond: another liond looks after .* already \\(pid ${first.pid}, version .*, since 20`),
      );
      expect(eventsOf(world).at(-1)).toMatchObject({ event: 'fatal', exit_code: 75 });
      const run = await layGone(world, runIdOf(1));
      await waitUntil('the first to look after it', () => run.record().get('finished_at'));
      expect((await first.end('SIGTERM')).exitCode).toBe(0);
      expect(existsSync(lockOf(world))).toBe(true);
    });
  });

  it('case 60: a file left with the pid of a live stranger, or of pid 1, stops no start', async () => {
    await inWorld(async (world) => {
      const stranger = await startSleeper(null);
      world.onDispose(stranger.stop);
      await (await startSupervisor(world)).end('SIGTERM');
      for (const pid of [1, stranger.pid]) {
        writeFileSync(lockOf(world), JSON.stringify({ ...OTHER, pid }));
        writeFileSync(join(stateOf(world), 'liond.pid'), String(pid));
        const began = performance.now();
        const supervisor = await startSupervisor(world);
        expect(performance.now() - began).toBeLessThan(10_000);
        await supervisor.end('SIGTERM');
      }
      expect(stranger.fates()).toEqual(['alive']);
    });
  });

  it('case 60: kill -9 leaves nothing that blocks, and the next one is named', async () => {
    await inWorld(async (world) => {
      const first = await startSupervisor(world);
      await first.end('SIGKILL');
      expect(await askData(world, ['daemon', 'status'])).toMatchObject({ state: 'stopped', pid: null });
      const second = await startSupervisor(world);
      expect(JSON.parse(readFileSync(lockOf(world), 'utf8')).pid).toBe(second.pid);
      expect((statSync(lockOf(world)).mode & 0o777).toString(8)).toBe('600');
    });
  });

  it('case 60: of many starts at once one stays', async () => {
    await inWorld(async (world) => {
      const all = Array.from({ length: 4 }, () => spawnSupervisor(world));
      await waitUntil(
        'all but one to end',
        () => all.filter((each) => each.isRunning()).length === 1,
        30_000,
      );
      const ends = await Promise.all(all.filter((each) => !each.isRunning()).map((each) => each.ended()));
      expect(ends.map(({ exitCode }) => exitCode)).toEqual([75, 75, 75]);
      await waitUntil('the one to be up', () => all.some((each) => each.said().includes('not ended')));
    });
  });

  it('an installation that cannot lock starts nothing: exit 78, with cause and cure', async () => {
    await inWorld(async (world) => {
      const { liond } = installInto(world, 'broken', ['koffi']);
      const run = await layGone(world, runIdOf(1));
      const before = run.text();
      const supervisor = spawnSupervisor(world, { main: liond });
      expect((await supervisor.ended()).exitCode).toBe(78);
      expect(supervisor.complained()).toMatch(/lock binding cannot be loaded[\s\S]*install it/);
      expect(eventsOf(world).at(-1)).toMatchObject({ event: 'fatal', exit_code: 78 });
      expect([supervisor.said(), run.text()]).toEqual(['', before]);
    });
  });

  it('a lock file that it may not open is said in words: exit 78', async () => {
    await inWorld(async (world) => {
      await (await startSupervisor(world)).end('SIGTERM');
      rmSync(lockOf(world));
      mkdirSync(lockOf(world));
      const supervisor = spawnSupervisor(world);
      expect((await supervisor.ended()).exitCode).toBe(78);
      expect(supervisor.complained()).toMatch(/cannot use .*instance\.lock: EISDIR\n$/);
    });
  });
});

describe.concurrent('case 85: the files of a running supervisor are swept away', () => {
  it('case 85: the lock file is there again within a minute, and no second one starts', async () => {
    await inWorld(async (world) => {
      const first = await startSupervisor(world);
      rmSync(lockOf(world));
      await waitUntil('the lock file to be made again', () => existsSync(lockOf(world)), 60_000);
      await waitUntil('it to be told of', () =>
        eventsOf(world).some(({ event }) => event === 'instance_retaken'),
      );
      expect(JSON.parse(readFileSync(lockOf(world), 'utf8')).pid).toBe(first.pid);
      expect((await spawnSupervisor(world).ended()).exitCode).toBe(75);
      expect(await askData(world, ['daemon', 'status'])).toMatchObject({ running: true, pid: first.pid });
      expect(first.isRunning()).toBe(true);
    });
  });

  it('case 85: each file it keeps, one at a time, then its whole directory: lion answers, and it goes on', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      const first = await startSupervisor(world);
      let runs = 1;
      for (const swept of [join(stateOf(world), 'liond.log'), lockOf(world), stateOf(world)]) {
        rmSync(swept, { recursive: true });
        expect((await askData(world, ['job', 'list', '--limit', '1000'])).jobs).toHaveLength(runs);
        await waitUntil(
          `a lock, and a log of what happens, after ${swept} went`,
          async () => {
            const run = await layGone(world, runIdOf(++runs));
            await waitUntil('the run to be ended', () => run.record().get('finished_at'));
            return existsSync(lockOf(world)) && existsSync(join(stateOf(world), 'liond.log'));
          },
          60_000,
        );
      }
      expect((await spawnSupervisor(world).ended()).exitCode).toBe(75);
      expect(first.isRunning()).toBe(true);
    });
  });

  it('case 85: where another took the new file first, the older one stops in order: exit 75', async () => {
    await inWorld(async (world) => {
      const live = await layLive(world, runIdOf(1));
      const first = await startSupervisor(world);
      rmSync(lockOf(world));
      const second = await startSupervisor(world);
      expect((await first.ended()).exitCode).toBe(75);
      expect(first.said()).toMatch(/stopping \(another liond holds instance\.lock\)[\s\S]*\nstopped\n$/);
      expect(second.isRunning()).toBe(true);
      expect(await askData(world, ['daemon', 'status'])).toMatchObject({ running: true, pid: second.pid });
      expect(live.record().get('finished_at')).toBeNull();
    });
  });
});
