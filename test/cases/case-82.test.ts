import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layEnded, layGone, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const REASON = 'state database could not be opened: disk I/O error';

function degrade(world: World, runId: string, reason: unknown = REASON): void {
  const dir = join(world.lionagiHome, 'runs', runId);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'run.json'), JSON.stringify({ persistence_degraded_reason: reason }));
}

describe('case 82: a degraded run reads as degraded on every surface', () => {
  it('case 82: list and status carry the reason in a field of its own, whatever became of the run', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      await layGone(world, runIdOf(2));
      await layLive(world, runIdOf(3));
      layEnded(world, runIdOf(4), 'completed');
      for (const n of [1, 2, 3]) degrade(world, runIdOf(n));
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs.map((job: Record<string, unknown>) => job.persistence_degraded_reason)).toEqual([
        null,
        REASON,
        REASON,
        REASON,
      ]);
      for (const n of [1, 2, 3, 4]) {
        const data = await askData(world, ['job', 'status', runIdOf(n)]);
        expect(data.persistence_degraded_reason).toBe(n === 4 ? null : REASON);
        expect(data.run.available).toBe(true);
      }
    });
  });

  it('case 82: a person sees a mark in the list and the reason in the status, on a terminal of 80 columns too', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed', { label: 'nightly index rebuild of everything' });
      degrade(world, runIdOf(1));
      layEnded(world, runIdOf(2), 'completed');
      const { stdout } = await runLion(['job', 'list'], world);
      expect(stdout.split('\n').filter((line) => line.includes('degraded'))).toEqual([
        expect.stringContaining(runIdOf(1)),
      ]);
      expect((await lionOnTerminal(world, ['job', 'list'])).screen).toContain('degraded');
      expect((await runLion(['job', 'status', runIdOf(1)], world)).stdout).toMatch(
        new RegExp(`\\ndegraded +${REASON}\\n`),
      );
    });
  });

  it('case 82: degraded says nothing about the outcome, and what is no reason is none', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      degrade(world, runIdOf(1));
      expect(await askData(world, ['job', 'status', runIdOf(1)])).toMatchObject({
        terminal: true,
        outcome: 'succeeded',
      });
      for (const reason of ['', null, 5, ['x']]) {
        degrade(world, runIdOf(1), reason);
        const { jobs } = await askData(world, ['job', 'list']);
        expect(jobs[0].persistence_degraded_reason).toBeNull();
      }
    });
  });

  it('case 82: a mode of lion\u2019s own is a field too: a run that could not be locked carries the refusal', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, runIdOf(1));
      mkdirSync(join(run.dir, 'job.lock'));
      const refusal = { code: 'lock_unavailable' };
      expect(await askData(world, ['job', 'status', run.runId])).toMatchObject({ terminal: false, refusal });
      expect((await askData(world, ['job', 'list'])).jobs).toMatchObject([{ terminal: false, refusal }]);
      expect((await runLion(['job', 'status', run.runId], world)).stdout).toMatch(
        /\nnot written +lock_unavailable: ./,
      );
    });
  });

  it('case 82: list can filter on them: an engine that lost its store, a lock refused, a record damaged', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      degrade(world, runIdOf(1));
      mkdirSync(join((await layGone(world, runIdOf(2))).dir, 'job.lock'));
      writeFileSync(layEnded(world, runIdOf(3), 'completed').recordFile, 'not JSON');
      for (const n of [4, 5]) layEnded(world, runIdOf(n), 'completed');
      const listed = async (...args: string[]): Promise<unknown[]> => {
        const { jobs, truncated } = await askData(world, ['job', 'list', ...args]);
        return [jobs.map((job: Record<string, unknown>) => job.run_id), truncated];
      };
      expect(await listed('--degraded')).toEqual([[3, 2, 1].map(runIdOf), false]);
      expect(await listed('--degraded', '--limit', '2')).toEqual([[3, 2].map(runIdOf), true]);
      expect(await listed('--degraded', '--limit', '3')).toEqual([[3, 2, 1].map(runIdOf), false]);
      expect(await listed('--degraded', '--status', 'completed')).toEqual([[runIdOf(1)], false]);
    });
  });

  it('case 82: daemon status carries what the supervisor does without, and exits non-zero for it', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      const mcp = join(world.lionagiHome, 'mcp');
      const human = () => runLion(['daemon', 'status'], world);
      const codes = async (): Promise<string[]> =>
        (await askData(world, ['daemon', 'status'])).degraded.map((each: { code: string }) => each.code);
      expect([(await human()).exitCode, await codes()]).toEqual([1, ['supervisor_not_running']]);

      await startSupervisor(world);
      await waitUntil('a supervisor that is well', async () => (await human()).exitCode === 0);
      expect(await codes()).toEqual([]);

      writeFileSync(join(mcp, 'liond.yaml'), 'watch: false\n');
      await waitUntil('it to say that it does not watch', async () => (await codes()).includes('watch_off'));
      const degraded = await human();
      expect([degraded.exitCode, degraded.stdout]).toEqual([
        1,
        expect.stringMatching(/watch_off\n.*\n.*cure: /s),
      ]);

      writeFileSync(join(mcp, 'liond.yaml'), 'watch: true\n');
      // An index that another program keeps locked for writing.
      const locker = new Database(join(mcp, 'liond', 'index.sqlite3'));
      world.onDispose(() => void locker.close());
      locker.exec('BEGIN IMMEDIATE');
      layEnded(world, runIdOf(2), 'completed');
      await waitUntil(
        'it to say that the index is locked',
        async () => (await codes()).includes('index_busy'),
        30_000,
      );
      locker.exec('COMMIT');
      await waitUntil('it to be well again', async () => (await human()).exitCode === 0, 30_000);
    });
  });
});
