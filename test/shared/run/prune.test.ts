import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { allocatedBytes } from '../../../shared/run/prune/allocated.ts';
import type { PruneRule } from '../../../shared/run/prune/decide.ts';
import { type Pruned, type PruneRequest, prune } from '../../../shared/run/prune/prune.ts';
import { listRunNames } from '../../../shared/store/names.ts';
import { claimNotice } from '../../support/claimed-notice.ts';
import { inWorld } from '../../support/in-world.ts';
import { type Json, JsonNumber } from '../../support/json-tree.ts';
import { goneIdentity, identityOf, layRun } from '../../support/lay-run.ts';
import { newRunId, newRunIds } from '../../support/new-run-id.ts';
import { DELIVERIES, type Sort } from '../../support/notices-of-all-sorts.ts';
import { startGroupSurvivors, startSleeper } from '../../support/processes.ts';
import { startPythonWriter } from '../../support/python-writer.ts';
import {
  jsonObject,
  layAdvisory,
  layEnded as layEndedAt,
  layGone,
  layLive,
  layPreparing,
  laySpawnFailed,
  replaceRecord,
  secondsAgo,
} from '../../support/runs-of-all-sorts.ts';
import type { World } from '../../support/world.ts';

const DAY_S = 86_400;
const { signal } = new AbortController();
const runIdOf = newRunIds();
const ALL: PruneRule = { olderThanMs: null, keepNewest: 0, maxBytes: null, outcomes: null, force: false };
const FORCED = { ...ALL, force: true };

/** So long ago that nobody takes up its notice any more. */
function layEnded(world: World, runId: string, status: string, members: Readonly<Record<string, Json>> = {}) {
  return layEndedAt(world, runId, status, { finished_at: secondsAgo(2 * DAY_S), ...members });
}

async function engineOf(world: World): Promise<Engine> {
  return (await openEngine(world.env, world.cwd, signal)).engine;
}

async function pruneBy(
  world: World,
  rule: Partial<PruneRule>,
  request: Partial<PruneRequest> = {},
): Promise<Pruned> {
  const asked = { rule: { ...ALL, ...rule }, dryRun: false, lockWaitMs: 0, signal, ...request };
  return prune(await engineOf(world), listRunNames(world.jobs), asked);
}

const idsOf = ({ removed }: Pruned): string[] => removed.map(({ runId }) => runId);
const OLD = { finished_at: secondsAgo(40 * DAY_S) };

describe('what pruning takes and leaves', () => {
  it('ended runs and refused spawns go, whatever else there is stays', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      laySpawnFailed(world, runIdOf(2), { finished_at: null });
      layEnded(world, runIdOf(3), 'failed', await goneIdentity());
      await layGone(world, runIdOf(4));
      layAdvisory(world, runIdOf(5));
      layPreparing(world, runIdOf(6), 40 * DAY_S);
      await layLive(world, runIdOf(7));
      mkdirSync(join(world.jobs, runIdOf(8)));
      writeFileSync(join(world.jobs, 'a-plain-file'), '');
      const pruned = await pruneBy(world, ALL);
      expect(idsOf(pruned)).toEqual([1, 2, 3].map(runIdOf));
      expect(pruned).toMatchObject({ kept: { not_ended: 4, reserved: 1 }, failed: [], interrupted: false });
      expect(readdirSync(world.jobs).sort()).toEqual([...[4, 5, 6, 7, 8].map(runIdOf), 'a-plain-file']);
    });
  });

  it('an ended run stays while a process of it lives: its own, or one that carries its mark', async () => {
    await inWorld(async (world) => {
      const [own, leaderless, unnamed] = [newRunId(), newRunId(), newRunId()];
      const sleeper = await startSleeper(null);
      const survivors = await startGroupSurvivors([leaderless]);
      const marked = await startSleeper(unnamed);
      const processes = [sleeper, survivors, marked];
      for (const process of processes) world.onDispose(process.stop);
      layEnded(world, own, 'completed', identityOf(sleeper));
      layEnded(world, leaderless, 'completed', identityOf(survivors));
      layEnded(world, unnamed, 'completed');
      expect(await pruneBy(world, FORCED)).toMatchObject({ removed: [], kept: { alive: 3 } });
      for (const process of processes) await process.stop();
      expect(idsOf(await pruneBy(world, ALL)).sort()).toEqual([own, leaderless, unnamed].sort());
    });
  });

  const notices: [Sort | 'none', 'removed' | 'kept'][] = [
    ['none', 'removed'],
    ['delivered', 'removed'],
    ['skipped', 'removed'],
    ['failed', 'removed'],
    ['unknown', 'removed'],
    ['owed', 'kept'],
    ['retrying', 'kept'],
    ['parked', 'kept'],
  ];
  it.each(notices)('a month after its end, a run whose notice is %s is %s', async (sort, expected) => {
    await inWorld(async (world) => {
      const notice = sort === 'none' ? {} : { notify_delivery: jsonObject(DELIVERIES[sort]) };
      layEnded(world, runIdOf(1), 'completed', { ...OLD, ...notice });
      const pruned = await pruneBy(world, ALL, { dryRun: true });
      expect(pruned.kept).toEqual(expected === 'kept' ? { undelivered: 1 } : {});
      expect(idsOf(await pruneBy(world, FORCED))).toEqual([runIdOf(1)]);
    });
  });

  it.each([
    ['failed', { attempted: true, ok: false, exit_code: new JsonNumber('3'), error: null }],
    ['unknown', { attempted: true, ok: null, exit_code: null, error: 'delivery_outcome_unknown' }],
  ])('a notice that is %s and was sent by this program keeps its run', async (_, delivery) => {
    await inWorld(async (world) => {
      const notify_delivery = jsonObject({ ...delivery, owed: true, delivery_id: 'x' });
      layEnded(world, runIdOf(1), 'completed', { ...OLD, notify_delivery });
      expect(await pruneBy(world, ALL)).toMatchObject({ removed: [], kept: { undelivered: 1 } });
    });
  });

  it('a failure of another writer keeps its run while it is young enough to be taken up', async () => {
    await inWorld(async (world) => {
      const notify_delivery = jsonObject(DELIVERIES.failed);
      layEnded(world, runIdOf(1), 'completed', { finished_at: secondsAgo(600), notify_delivery });
      expect((await pruneBy(world, ALL)).kept).toEqual({ undelivered: 1 });
    });
  });

  it('a notice on its way keeps its run', async () => {
    await inWorld(async (world) => {
      const notify_delivery = jsonObject(DELIVERIES.owed);
      const run = layEnded(world, runIdOf(1), 'completed', { notify_delivery });
      await claimNotice(world, run);
      expect((await pruneBy(world, ALL)).kept).toEqual({ undelivered: 1 });
    });
  });

  it('damaged records stay, and go by force unless a process carries their mark', async () => {
    await inWorld(async (world) => {
      const lived = newRunId();
      const sleeper = await startSleeper(lived);
      world.onDispose(sleeper.stop);
      for (const [runId, text] of [
        [runIdOf(1), '{"run_id": '],
        [runIdOf(2), '[]'],
        [lived, ''],
      ] as const) {
        mkdirSync(join(world.jobs, runId), { recursive: true });
        writeFileSync(join(world.jobs, runId, 'job.json'), text);
      }
      layEnded(world, runIdOf(3), 'completed', { run_id: runIdOf(4) });
      mkdirSync(join(world.jobs, runIdOf(5), 'job.json', 'inside'), { recursive: true });
      expect((await pruneBy(world, ALL)).kept).toEqual({ damaged: 4, alive: 1 });
      const forced = await pruneBy(world, FORCED);
      expect(idsOf(forced)).toEqual([1, 2, 3, 5].map(runIdOf));
      expect(readdirSync(world.jobs)).toEqual([lived]);
    });
  });

  it('a reservation goes by force alone, a day old and named as a submitter names it', async () => {
    await inWorld(async (world) => {
      const yesterday = new Date(Date.now() - 25 * 3_600_000);
      for (const name of [runIdOf(1), runIdOf(2), 'notes', runIdOf(3)]) {
        mkdirSync(join(world.jobs, name), { recursive: true });
        writeFileSync(join(world.jobs, name, 'prompt.txt'), 'do it');
        if (name !== runIdOf(2)) utimesSync(join(world.jobs, name), yesterday, yesterday);
      }
      const sleeper = await startSleeper(runIdOf(3));
      world.onDispose(sleeper.stop);
      expect((await pruneBy(world, ALL)).kept).toEqual({ reserved: 3, alive: 1 });
      const forced = await pruneBy(world, FORCED);
      expect(idsOf(forced)).toEqual([runIdOf(1)]);
      expect(readdirSync(world.jobs).sort()).toEqual([runIdOf(2), runIdOf(3), 'notes']);
    });
  });

  it('of a run that is a link elsewhere only the link goes; links that lead nowhere or in a circle stay', async () => {
    await inWorld(async (world) => {
      const elsewhere = layEnded({ ...world, jobs: world.work }, runIdOf(1), 'completed');
      mkdirSync(world.jobs, { recursive: true });
      symlinkSync(elsewhere.dir, join(world.jobs, runIdOf(1)));
      symlinkSync('nowhere', join(world.jobs, runIdOf(2)));
      symlinkSync(runIdOf(3), join(world.jobs, runIdOf(3)));
      const pruned = await pruneBy(world, ALL);
      expect(pruned.removed).toEqual([{ runId: runIdOf(1), bytes: 0 }]);
      expect(pruned.kept).toEqual({ reserved: 1, damaged: 1 });
      expect(existsSync(elsewhere.recordFile)).toBe(true);
    });
  });
});

describe('the rule of a pruning', () => {
  it('takes by age, and a run without a readable end by the age of its record', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed', OLD);
      layEnded(world, runIdOf(2), 'completed', { finished_at: secondsAgo(20 * DAY_S) });
      layEnded(world, runIdOf(3), 'completed', { finished_at: secondsAgo(-20 * DAY_S) });
      const unreadable = layEnded(world, runIdOf(4), 'completed', { finished_at: 'yesterday' });
      const longAgo = new Date(Date.now() - 40 * DAY_S * 1_000);
      utimesSync(unreadable.recordFile, longAgo, longAgo);
      const pruned = await pruneBy(world, { keepNewest: null, olderThanMs: 30 * DAY_S * 1_000 });
      expect(idsOf(pruned)).toEqual([1, 4].map(runIdOf));
      expect(pruned.kept).toEqual({ outside_rule: 1, undelivered: 1 });
    });
  });

  it('keeps the newest runs by name, reservations not counted', async () => {
    await inWorld(async (world) => {
      for (const n of [1, 2, 3, 4]) layEnded(world, runIdOf(n), 'completed');
      await layLive(world, runIdOf(5));
      mkdirSync(join(world.jobs, runIdOf(6)));
      const pruned = await pruneBy(world, { keepNewest: 3 });
      expect(idsOf(pruned)).toEqual([1, 2].map(runIdOf));
      expect(pruned.kept).toEqual({ outside_rule: 2, not_ended: 1, reserved: 1 });
    });
  });

  it('takes the oldest first until the store is small enough, what stays counted in', async () => {
    await inWorld(async (world) => {
      for (const n of [1, 2, 3, 4, 5]) {
        const run = layEnded(world, runIdOf(n), 'completed');
        writeFileSync(join(run.dir, 'console.log'), 'x'.repeat(100_000));
      }
      const live = await layLive(world, runIdOf(0));
      writeFileSync(join(live.dir, 'console.log'), 'x'.repeat(500_000));
      const each = await allocatedBytes(join(world.jobs, runIdOf(1)), signal);
      const maxBytes = (await allocatedBytes(live.dir, signal)) + 3 * each;
      const dry = await pruneBy(world, { keepNewest: null, maxBytes }, { dryRun: true });
      const pruned = await pruneBy(world, { keepNewest: null, maxBytes });
      expect(dry).toEqual(pruned);
      expect(pruned.removed).toEqual([1, 2].map((n) => ({ runId: runIdOf(n), bytes: each })));
      expect(pruned.kept).toEqual({ not_ended: 1, outside_rule: 3 });
      expect((await pruneBy(world, { keepNewest: null, maxBytes })).removed).toEqual([]);
    });
  });

  it('takes by outcome, as any other answer shows it', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      layEnded(world, runIdOf(2), 'failed');
      layEnded(world, runIdOf(3), 'exited', { outcome: 'indeterminate' });
      laySpawnFailed(world, runIdOf(4));
      expect(idsOf(await pruneBy(world, { outcomes: ['failed'] }))).toEqual([2, 4].map(runIdOf));
    });
  });

  it('with several conditions all must hold', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed', OLD);
      layEnded(world, runIdOf(2), 'failed', OLD);
      layEnded(world, runIdOf(3), 'failed', OLD);
      layEnded(world, runIdOf(4), 'failed', { finished_at: secondsAgo(3_600) });
      const rule = { olderThanMs: 30 * DAY_S * 1_000, keepNewest: 2, outcomes: ['failed'] as const };
      expect(idsOf(await pruneBy(world, rule))).toEqual([runIdOf(2)]);
    });
  });
});

describe('how a pruning goes', () => {
  it('touches nothing in a dry run, not even a lock file, and says what a real one then does', async () => {
    await inWorld(async (world) => {
      for (const n of [1, 2]) layEnded(world, runIdOf(n), 'completed');
      const dry = await pruneBy(world, ALL, { dryRun: true });
      expect([1, 2].map((n) => readdirSync(join(world.jobs, runIdOf(n))))).toEqual([
        ['job.json'],
        ['job.json'],
      ]);
      expect(dry).toEqual(await pruneBy(world, ALL));
      expect(readdirSync(world.jobs)).toEqual([]);
    });
  });

  it('goes on past a run whose lock another program holds, and one whose lock cannot be had', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      const [held, broken] = [runIdOf(1), runIdOf(2)].map((id) => layEnded(world, id, 'completed'));
      layEnded(world, runIdOf(3), 'completed');
      mkdirSync(join(broken?.dir ?? '', 'job.lock'));
      await writer.ask({ do: 'hold', run_dirs: [held?.dir ?? ''] });
      const why = 'lock_unavailable';
      expect(await pruneBy(world, ALL)).toMatchObject({
        removed: [{ runId: runIdOf(3) }],
        failed: [
          { runId: runIdOf(1), why },
          { runId: runIdOf(2), why },
        ],
        interrupted: false,
      });
    });
  });

  it('keeps a run that another writer touches between the look and the lock', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      const run = layEnded(world, runIdOf(1), 'completed');
      await writer.ask({ do: 'hold', run_dirs: [run.dir] });
      const pruning = pruneBy(world, ALL, { lockWaitMs: 10_000 });
      await new Promise((resolve) => setTimeout(resolve, 200));
      replaceRecord(run, { late_report: 'it speaks' });
      await writer.ask({ do: 'release' });
      expect(await pruning).toMatchObject({ removed: [], kept: { changed_meanwhile: 1 }, failed: [] });
    });
  });

  it('takes it for no fault that a run went by itself meanwhile', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      const names = [...listRunNames(world.jobs), runIdOf(0)];
      const request = { rule: ALL, dryRun: false, lockWaitMs: 0, signal };
      const pruned = await prune(await engineOf(world), names, request);
      expect(pruned).toMatchObject({ kept: { changed_meanwhile: 1 }, failed: [] });
      expect(idsOf(pruned)).toEqual([runIdOf(1)]);
    });
  });

  it('ends between runs when interrupted, and says that it did', async () => {
    await inWorld(async (world) => {
      for (let n = 1; n <= 10; n++) layEnded(world, runIdOf(n), 'completed');
      const interrupt = new AbortController();
      const onProgress = ({ done }: { done: number }): void => {
        if (done === 4) interrupt.abort();
      };
      const pruned = await pruneBy(world, ALL, { signal: interrupt.signal, onProgress });
      expect(idsOf(pruned)).toEqual([1, 2, 3, 4].map(runIdOf));
      expect(pruned).toMatchObject({ interrupted: true, kept: {}, failed: [] });
      expect(listRunNames(world.jobs)).toHaveLength(6);
    });
  });

  it('finds a process that began while it was under way: marks are read anew', async () => {
    await inWorld(async (world) => {
      const late = `20270101T000000-${newRunId().slice(-6)}`;
      for (let n = 1; n <= 3; n++) layEnded(world, runIdOf(n), 'completed');
      layEnded(world, late, 'completed');
      const begun: Promise<void>[] = [];
      const onProgress = ({ done }: { done: number }): void => {
        if (done !== 1) return;
        // As if a run before it had been a large one.
        begun.push(startSleeper(late).then((sleeper) => world.onDispose(sleeper.stop)));
        const untilMs = performance.now() + 1_100;
        while (performance.now() < untilMs);
      };
      const pruned = await pruneBy(world, ALL, { onProgress });
      await Promise.all(begun);
      expect(pruned.kept).toEqual({ alive: 1 });
      rmSync(join(world.jobs, late), { recursive: true });
    });
  });
});

describe('records that name no process here', () => {
  it('of another host go with their end, and stay without one', async () => {
    await inWorld(async (world) => {
      const origin = jsonObject({ host_id: 'elsewhere', boot_id: 'b', pid_namespace: new JsonNumber('1') });
      layEnded(world, runIdOf(1), 'completed', { ...(await goneIdentity()), origin });
      layRun(world, runIdOf(2), { ...(await goneIdentity()), origin });
      const pruned = await pruneBy(world, ALL);
      expect(idsOf(pruned)).toEqual([runIdOf(1)]);
      expect(pruned.kept).toEqual({ not_ended: 1 });
    });
  });
});
