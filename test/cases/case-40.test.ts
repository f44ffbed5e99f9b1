import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { endOf, layGone, REAPED, runIdOf, secondsAgo } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

const HOUR_S = 3600;
/** A time the run took, as anyone might be tempted to print it. */
const DURATION = /took|duration|elapsed|ran for|4 ?h ?1\d ?m|4:1\d:/i;

describe('case 40: an end that was only noticed is not told as when it happened', () => {
  it('case 40: a run that went silent four hours ago is ended now, as an upper bound that is said to be one, and no duration is made of it', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, runIdOf(1), { submitted_at: secondsAgo(4 * HOUR_S + 600) });
      const log = join(run.dir, 'console.log');
      writeFileSync(log, 'the last word\n');
      const lastSign = new Date(Date.now() - 4 * HOUR_S * 1000);
      for (const file of [log, run.recordFile]) utimesSync(file, lastSign, lastSign);
      const startedMs = Date.now();
      await startSupervisor(world);
      await waitUntil('the run to be ended', () => run.record().get('finished_at'));
      expect(endOf(run)).toEqual(REAPED);

      const data = await askData(world, ['job', 'status', run.runId]);
      expect(data.finished_at_precision).toBe('upper_bound');
      const finishedMs = Date.parse(data.finished_at);
      expect(finishedMs).toBeGreaterThanOrEqual(startedMs - 1);
      expect(finishedMs).toBeLessThanOrEqual(Date.now());
      expect(Object.keys(data).filter((key) => DURATION.test(key))).toEqual([]);
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs).toMatchObject([{ finished_at: data.finished_at, finished_at_precision: 'upper_bound' }]);
      expect(Object.keys(jobs[0]).filter((key) => DURATION.test(key))).toEqual([]);

      const status = (await runLion(['job', 'status', run.runId], world)).stdout;
      expect(status).toMatch(/\nended +.*, at the latest\n/);
      const list = (await runLion(['job', 'list'], world)).stdout;
      for (const text of [status, list]) expect(text).not.toMatch(DURATION);
    });
  });
});
