import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { stateOf } from '../support/live-runs.ts';
import { askData } from '../support/machine.ts';
import { endNow, layLive, layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** The supervisor stands still for so long over what it has read. */
const DELAY_MS = 2_000;
const ROUNDS = 3;
const RECORDED = ['status', 'finished_at', 'finished_at_precision', 'terminal_source'];
const TOLD = [...RECORDED, 'outcome', 'notify_delivery_state', 'notify_retry_state'];

// biome-ignore lint/suspicious/noExplicitAny: rows of any shape
type Row = any;

/** Lists everything, again and again; a row that was terminal once must be so each time. */
function makeLister(world: World): () => Promise<Map<string, Row>> {
  const ended = new Set<string>();
  return async () => {
    const { jobs } = await askData(world, ['job', 'list', '--limit', '100']);
    for (const job of jobs) {
      if (job.terminal) ended.add(job.run_id);
      else expect([...ended]).not.toContain(job.run_id);
    }
    return new Map(jobs.map((job: Row) => [job.run_id, job]));
  };
}

async function expectEqual(world: World, run: LaidRun, row: Row): Promise<void> {
  const record = run.record();
  const status = await askData(world, ['job', 'status', run.runId]);
  expect(row).toMatchObject({ terminal: true, outcome: 'succeeded' });
  expect(RECORDED.map((name) => row[name])).toEqual(RECORDED.map((name) => record.get(name) ?? null));
  expect(TOLD.map((name) => row[name])).toEqual(TOLD.map((name) => status[name]));
}

describe('case 71: nothing that comes late undoes an end', () => {
  it('case 71: three runs end and a notice gets its result while the supervisor stands still over what it read before: rows equal records, and none goes back from ended to open', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(0.5)');
      const supervisor = await startSupervisor(world);
      const list = makeLister(world);
      for (let round = 0; round < ROUNDS; round++) {
        const id = (n: number) => runIdOf(round * 10 + n);
        const ending = await Promise.all([1, 2, 3].map((n) => layLive(world, id(n))));
        const told = layOwed(world, id(4), notifier.command);
        await waitUntil('the notice to be on its way', () => notifier.calls().length === round + 1);
        for (const run of ending) endNow(run, 'completed');
        supervisor.signal('SIGSTOP');
        await waitUntil('it to stand still', () => stateOf(supervisor.pid) === 'T');
        const thawMs = Date.now() + DELAY_MS;
        while (Date.now() < thawMs) await list();
        supervisor.signal('SIGCONT');
        await waitUntil('the result of the notice', async () => {
          await list();
          return noticeOf(told).ok === true;
        });
        await sleep(500);
        const rows = await list();
        for (const run of [...ending, told]) await expectEqual(world, run, rows.get(run.runId));
        expect(noticeOf(told).attempts).toBe(1);
      }
    });
  });
});
