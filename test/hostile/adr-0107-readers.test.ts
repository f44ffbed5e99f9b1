/** ADR-0107, "Verify by" 5, 6, 7 and 9, through the built CLI with real processes. */
import { utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { goneIdentity, identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { startSleep } from '../support/live-runs.ts';
import { askData } from '../support/machine.ts';
import { pythonFloat, writePythonJson } from '../support/python-json.ts';
import { rewrittenWithoutNeed } from '../support/record-compare.ts';
import {
  endOf,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  noticeOf,
  REAPED,
  runIdOf,
  secondsAgo,
} from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import type { World } from '../support/world.ts';
import type { Members } from './live-conditions.ts';
import { lookAll } from './look-all.ts';

describe('ADR-0107 Verify by 5: a reaped run counts as ended', () => {
  it('ADR-0107 Verify by 5: wait says all_terminal when the others have ended, and calls it indeterminate', async () => {
    await inWorld(async (world) => {
      const [gone, done, failed] = [runIdOf(1), runIdOf(2), runIdOf(3)];
      await layGone(world, gone);
      layEnded(world, done, 'completed');
      layEnded(world, failed, 'failed');
      const wait = await askData(world, ['job', 'wait', done, gone, failed, '--max-wait', '0']);
      expect(wait).toMatchObject({
        all_terminal: true,
        timed_out: false,
        pending: [],
        stopped_without_end: [],
        unresolved_spawn: [],
      });
      expect(wait.runs.map((run: { outcome: string }) => run.outcome)).toEqual([
        'succeeded',
        'indeterminate',
        'failed',
      ]);
    });
  });

  it('ADR-0107 Verify by 5: and does not while another is open', async () => {
    await inWorld(async (world) => {
      await layGone(world, runIdOf(1));
      await layLive(world, runIdOf(2));
      const wait = await askData(world, ['job', 'wait', runIdOf(1), runIdOf(2), '--max-wait', '0']);
      expect(wait).toMatchObject({ all_terminal: false, timed_out: true, pending: [runIdOf(2)] });
      expect(wait.runs[0]).toMatchObject({ terminal: true, outcome: 'indeterminate' });
    });
  });
});

describe('ADR-0107 Verify by 6: a mixed wait keeps its order and its sums', () => {
  const ORDERS = [
    [1, 2, 3, 4, 5, 6, 7],
    [7, 6, 5, 4, 3, 2, 1],
    [4, 1, 7, 2, 5, 3, 6],
  ];
  it.each(ORDERS.map((order) => [order.join(), order] as const))(
    'ADR-0107 Verify by 6: asked in the order %s',
    async (_, order) => {
      await inWorld(async (world) => {
        await layLive(world, runIdOf(1));
        await layGone(world, runIdOf(2));
        layEnded(world, runIdOf(3), 'failed');
        layEnded(world, runIdOf(4), 'completed');
        layRun(world, runIdOf(5), { pid: true });
        layPreparing(world, runIdOf(6), 700);
        layEnded(world, runIdOf(7), 'cancelled');
        const told = [
          ['running', false, null],
          ['exited', true, 'indeterminate'],
          ['failed', true, 'failed'],
          ['completed', true, 'succeeded'],
          ['exited', false, null],
          ['running', false, null],
          ['cancelled', true, 'cancelled'],
        ];
        const ids = order.map(runIdOf);
        const wait = await askData(world, ['job', 'wait', ...ids, '--max-wait', '0']);
        expect(wait.runs.map((run: { run_id: string }) => run.run_id)).toEqual(ids);
        expect(
          wait.runs.map((run: Record<string, unknown>) => [run.status, run.terminal, run.outcome]),
        ).toEqual(order.map((at) => told[at - 1]));
        expect(wait).toMatchObject({
          all_terminal: false,
          timed_out: true,
          pending: [runIdOf(1)],
          stopped_without_end: [runIdOf(5)],
          unresolved_spawn: [runIdOf(6)],
        });
      });
    },
  );
});

describe('ADR-0107 Verify by 7: list and status say the same of a run', () => {
  it('ADR-0107 Verify by 7: classification and attribution, whichever of the two ended it', async () => {
    await inWorld(async (world) => {
      const ids = [1, 2, 3, 4, 5, 6, 7, 8].map(runIdOf);
      const [
        live = '',
        gone = '',
        failed = '',
        completed = '',
        advisory = '',
        preparing = '',
        killed = '',
        late = '',
      ] = ids;
      await layLive(world, live);
      await layGone(world, gone);
      layEnded(world, failed, 'failed');
      layEnded(world, completed, 'completed_empty', { terminal_source: 'lifecycle_cache' });
      layRun(world, advisory, {});
      layPreparing(world, preparing, 700);
      layEnded(world, killed, 'killed', { outcome: 'cancelled', terminal_source: 'mcp_kill' });
      await layGone(world, late);
      // One of the gone runs is ended by status, the other by list.
      await askData(world, ['job', 'status', gone]);
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs.map((job: { run_id: string }) => job.run_id)).toEqual([...ids].reverse());
      for (const job of jobs) {
        const status = await askData(world, ['job', 'status', job.run_id]);
        const common = Object.keys(job).filter((key) => key in status && key !== 'preparing_age_seconds');
        expect(common).toEqual(
          expect.arrayContaining([
            ...['status', 'terminal', 'outcome', 'reason_code', 'possibly_orphaned', 'spawn_state'],
            ...[
              'finished_at',
              'finished_at_precision',
              'terminal_source',
              'survivors',
              'record_state',
              'refusal',
            ],
          ]),
        );
        const pick = (from: Record<string, unknown>) => common.map((key) => [key, from[key]]);
        expect(pick(job)).toEqual(pick(status));
      }
    });
  });
});

const OLD = '20250101T000000-0000aa';

describe('ADR-0107 Verify by 9: records stranded before the change', () => {
  /** As they were written then: none of the additive fields. */
  function layOld(world: World, members: Members, runId = OLD): LaidRun {
    const run = layRun(world, runId, {});
    const record: Members = {
      run_id: runId,
      kind: 'agent',
      argv: ['li', 'agent'],
      label: null,
      submitted_at: '2025-01-01T00:00:00+00:00',
      finished_at: null,
      status: 'running',
      spawn_state: 'started',
      huge: new JsonNumber('123456789012345678901234567890'),
      exact: new JsonNumber('1.0'),
      ...members,
    };
    writeFileSync(run.recordFile, writePythonJson(new Map(Object.entries(record))));
    const then = Date.parse('2025-01-01T00:00:00Z') / 1000;
    utimesSync(run.recordFile, then, then);
    return run;
  }

  it.each([['status', OLD], ['list'], ['wait', OLD, '--max-wait', '0']])(
    'ADR-0107 Verify by 9: are ended at the next conclusive look, by %s',
    async (...verb) => {
      await inWorld(async (world) => {
        const notifier = makeNotifier(world, 'tell');
        const run = layOld(world, { ...(await goneIdentity()), notify_command: notifier.command });
        const before = run.text();
        const from = Date.now();
        await askData(world, ['job', ...verb]);
        expect(endOf(run)).toEqual(REAPED);
        const finishedAt = Date.parse(String(run.record().get('finished_at')));
        expect(finishedAt, 'the time of the observation').toBeGreaterThanOrEqual(from - 1);
        expect(rewrittenWithoutNeed(before, run.text())).toEqual([]);
        // Nobody waits for word of a run that old (design 7).
        expect(notifier.calls()).toEqual([]);
        expect(noticeOf(run)).toMatchObject({ attempted: false, skipped: 'beyond_horizon' });
      });
    },
  );

  it('ADR-0107 Verify by 9: are not touched where the look is not conclusive', async () => {
    await inWorld(async (world) => {
      const gone = await goneIdentity();
      const ours = new JsonNumber(String(process.pid));
      const inconclusive: Members[] = [
        { pid: null },
        { ...gone, spawn_state: 'preparing' },
        { ...gone, status: 'completed', finished_at: secondsAgo(9e6) },
        { ...gone, finished_at: new JsonNumber('0') },
        { ...gone, origin: new Map([['host_id', 'another']]) },
        { pid: ours, pid_create_time: null },
        { pid: ours, pid_create_time: 'soon' },
      ];
      const runs = inconclusive.map((members, at) => layOld(world, members, `20250101T000000-${at}000bb`));
      const before = runs.map((run) => run.text());
      await lookAll(
        world,
        runs.map(({ runId }) => runId),
      );
      for (const { runId } of runs) await askData(world, ['job', 'status', runId]);
      expect(runs.map((run) => run.text())).toEqual(before);
    });
  });

  it('ADR-0107 Verify by 9: a start time off by less than the tolerance is the same process', async () => {
    await inWorld(async (world) => {
      const process = await startSleep({ mark: null });
      world.onDispose(process.stop);
      const pid_create_time = new JsonNumber(pythonFloat(process.createTime + 0.09));
      const run = layOld(world, { ...identityOf(process), pid_create_time });
      const before = run.text();
      expect(await askData(world, ['job', 'status', OLD])).toMatchObject({
        terminal: false,
        status: 'running',
      });
      expect(run.text()).toBe(before);
    });
  });
});
