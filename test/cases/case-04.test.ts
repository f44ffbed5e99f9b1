import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { ask, askData } from '../support/machine.ts';
import { isThere } from '../support/processes.ts';
import { endOf, layEnded, layGone, layLive, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeLi } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

const [TOLD, FAILING, HANGING, FLOODING, SILENT] = [1, 2, 3, 4, 5].map(runIdOf) as [
  string,
  string,
  string,
  string,
  string,
];

/** What `li` does by the run it is asked about. */
const LI = `
if run == ${JSON.stringify(TOLD)}:
    time.sleep(3)
    answer(True, "cancelled")
elif run == ${JSON.stringify(FAILING)}:
    print("li: error: database is locked", file=sys.stderr)
    sys.exit(1)
elif run == ${JSON.stringify(HANGING)}:
    time.sleep(60)
elif run == ${JSON.stringify(FLOODING)}:
    answer(True, "cancelled")
    print(" " * 2_000_000, flush=True)
    time.sleep(60)
else:
    answer(False, "running")
`;
/** Design 6: what is waited for an answer of the lifecycle store. */
const LIFECYCLE_BOUND_MS = 20_000;

describe('case 4: an ending recorded somewhere else is not read as an orphan', () => {
  it.concurrent('case 4: the supervisor writes the end that li tells of after 3 s, and reaps nothing', async () => {
    await inWorld(async (world) => {
      const li = makeLi(world, LI);
      const run = await layGone(world, TOLD);
      await startSupervisor(world);
      await waitUntil('the end to be on the record', () => run.record().get('finished_at'), 20_000);
      expect(endOf(run)).toMatchObject({
        status: 'cancelled',
        terminal_source: 'lifecycle_cache',
        finished_at_precision: 'observed',
      });
      const before = run.text();
      expect(await askData(world, ['job', 'status', TOLD])).toMatchObject({
        terminal: true,
        outcome: 'cancelled',
        terminal_source: 'lifecycle_cache',
      });
      expect(run.text()).toBe(before);
      expect(li.calls().map((call) => call.run)).toEqual([TOLD]);
    });
  });

  it.concurrent('case 4 variants: exits 1, hangs 60 s, prints 2 MB: nothing is learned, the run is reaped after a bounded wait, no other run waits for it, and no child of it is left', async () => {
    await inWorld(async (world) => {
      const li = makeLi(world, LI);
      const runs = {
        hanging: await layGone(world, HANGING),
        told: await layGone(world, TOLD),
        failing: await layGone(world, FAILING),
        flooding: await layGone(world, FLOODING),
        silent: await layGone(world, SILENT),
      };
      const live = await layLive(world, runIdOf(6));
      const began = performance.now();
      const supervisor = await startSupervisor(world);
      const endedMs = async (run: (typeof runs)['told'], withinMs: number): Promise<number> => {
        await waitUntil(`an end of ${run.runId}`, () => run.record().get('finished_at'), withinMs);
        return performance.now() - began;
      };
      for (const run of [runs.failing, runs.flooding, runs.silent]) {
        await endedMs(run, 15_000);
        expect(endOf(run)).toEqual(REAPED);
      }
      await endedMs(runs.told, 15_000);
      expect(endOf(runs.told)).toMatchObject({ status: 'cancelled', terminal_source: 'lifecycle_cache' });
      // A run that dies while li hangs is ended meanwhile.
      await live.process.stop();
      await endedMs(live, 10_000);
      expect(runs.hanging.record().get('finished_at')).toBeNull();

      const ms = await endedMs(runs.hanging, 30_000);
      expect(endOf(runs.hanging)).toEqual(REAPED);
      expect(ms).toBeGreaterThan(LIFECYCLE_BOUND_MS - 1_000);
      expect(ms).toBeLessThan(LIFECYCLE_BOUND_MS + 8_000);
      await waitUntil('every li to be gone', () => li.calls().every(({ pid }) => !isThere(pid)));
      expect(supervisor.isRunning()).toBe(true);
    });
  });

  it.concurrent('case 4 variant: li is missing: the run is reaped', async () => {
    await inWorld(async (world) => {
      world.env.LIONAGI_MCP_LI_BIN = join(world.bin, 'no-such-li');
      const run = await layGone(world, SILENT);
      await startSupervisor(world);
      await waitUntil('the run to be reaped', () => run.record().get('finished_at'));
      expect(endOf(run)).toEqual(REAPED);
    });
  });

  it.concurrent('case 4: a reader is held to the same bound, and its child is gone when it answers', async () => {
    await inWorld(async (world) => {
      const li = makeLi(world, LI);
      const run = await layGone(world, HANGING);
      const began = performance.now();
      const data = await askData(world, ['job', 'status', HANGING]);
      expect(performance.now() - began).toBeLessThan(LIFECYCLE_BOUND_MS + 8_000);
      expect(data).toMatchObject({ terminal: true, outcome: 'indeterminate' });
      expect(endOf(run)).toEqual(REAPED);
      await waitUntil('every li to be gone', () => li.calls().every(({ pid }) => !isThere(pid)), 2_000);
    });
  });

  it.concurrent('case 4: a list waits for one slow run no longer than its budget, and tells the others right', async () => {
    await inWorld(async (world) => {
      const li = makeLi(world, LI);
      await layGone(world, HANGING);
      await layGone(world, TOLD);
      await layGone(world, FAILING);
      layEnded(world, runIdOf(9), 'completed');
      const began = performance.now();
      const { jobs } = await askData(world, ['job', 'list']);
      expect(performance.now() - began).toBeLessThan(LIFECYCLE_BOUND_MS + 8_000);
      const told = jobs.map((job: Record<string, unknown>) => [job.run_id, job.terminal, job.outcome]);
      expect(told).toEqual([
        [runIdOf(9), true, 'succeeded'],
        [
          HANGING,
          expect.any(Boolean),
          expect.toSatisfy((outcome) => [null, 'indeterminate'].includes(outcome)),
        ],
        [FAILING, true, 'indeterminate'],
        [TOLD, true, 'cancelled'],
      ]);
      await waitUntil('every li to be gone', () => li.calls().every(({ pid }) => !isThere(pid)), 2_000);
    });
  });

  it.concurrent('case 4: wait ends where li tells of an end', async () => {
    await inWorld(async (world) => {
      makeLi(world, LI);
      await layGone(world, TOLD);
      const { data } = await ask(world, ['job', 'wait', TOLD]);
      expect(data).toMatchObject({ all_terminal: true, runs: [{ outcome: 'cancelled' }] });
    });
  });
});
