import { existsSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { identityOf, layRun, runAt } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { startSleeper } from '../support/processes.ts';
import { endOf, layEnded, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const [NEW, OLD, TEMPORARY, STRANDED, GOOD] = [1, 2, 3, 4, 5].map(runIdOf) as [
  string,
  string,
  string,
  string,
  string,
];
const LAST_YEAR = new Date(Date.now() - 365 * 86_400_000);

/** Folders that are not jobs, or not yet, and files that never will be. */
function layHalfMade({ jobs }: World): void {
  for (const id of [NEW, OLD, TEMPORARY, STRANDED]) mkdirSync(join(jobs, id), { recursive: true });
  writeFileSync(join(jobs, OLD, 'prompt.txt'), 'do the thing');
  utimesSync(join(jobs, OLD), LAST_YEAR, LAST_YEAR);
  writeFileSync(join(jobs, TEMPORARY, '.job.json.1234.abcd.tmp'), '{"run_id": ');
  writeFileSync(join(jobs, STRANDED, 'stranded.json'), '{"reason": "could not be given back"}');
  writeFileSync(join(jobs, 'a-plain-file'), '{"run_id": "a-plain-file"}');
  writeFileSync(join(jobs, '.DS_Store'), 'Bud1');
}

describe('case 84: half-made submissions do not show up in the list', () => {
  it('case 84: none of them is listed as a job, and asked about by name it is not found', async () => {
    await inWorld(async (world) => {
      layHalfMade(world);
      layEnded(world, GOOD, 'completed');
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs.map((job: { run_id: string }) => job.run_id)).toEqual([GOOD]);
      const { stdout } = await runLion(['job', 'list'], world);
      expect(stdout.trimEnd().split('\n')).toHaveLength(2);
      for (const id of [NEW, OLD, TEMPORARY, STRANDED])
        expect((await ask(world, ['job', 'status', id])).error?.kind).toBe('not_found');
    });
  });

  it('case 84: a limit counts jobs, so reservations do not push one off the list or call it truncated', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(0), 'completed');
      layHalfMade(world);
      expect(await askData(world, ['job', 'list', '--limit', '1'])).toMatchObject({
        jobs: [{ run_id: runIdOf(0) }],
        truncated: false,
      });
    });
  });

  it('case 84: the supervisor leaves them alone, and a new one is a job within a second and looked after once job.json appears', async () => {
    await inWorld(async (world) => {
      layHalfMade(world);
      const supervisor = await startSupervisor(world);
      const sleeper = await startSleeper(NEW);
      world.onDispose(sleeper.stop);
      const elsewhere = layRun({ ...world, jobs: world.work }, NEW, identityOf(sleeper));
      writeFileSync(join(world.jobs, NEW, '.job.json.1.tmp'), elsewhere.text());
      const appeared = performance.now();
      renameSync(join(world.jobs, NEW, '.job.json.1.tmp'), join(world.jobs, NEW, 'job.json'));
      await waitUntil('the job to be listed', async () => {
        const { jobs } = await askData(world, ['job', 'list']);
        return jobs.length === 1 && jobs[0].run_id === NEW && jobs[0].status === 'running';
      });
      expect(performance.now() - appeared).toBeLessThan(5_000);
      await sleeper.stop();
      await waitUntil('the supervisor to end it', () => supervisor.said().includes(`${NEW} has ended`));
      expect(endOf(runAt(join(world.jobs, NEW), NEW))).toEqual(REAPED);
      for (const id of [OLD, TEMPORARY, STRANDED]) {
        expect(existsSync(join(world.jobs, id))).toBe(true);
        expect(existsSync(join(world.jobs, id, 'job.json'))).toBe(false);
        expect(existsSync(join(world.jobs, id, 'job.lock'))).toBe(false);
      }
      expect(supervisor.said()).not.toMatch(/fault|refused|could not/);
    });
  });

  it('case 84: a reservation that lay long without a record is looked after at once when it gets one', async () => {
    await inWorld(async (world) => {
      mkdirSync(join(world.jobs, OLD), { recursive: true });
      const supervisor = await startSupervisor(world);
      // By now it has been looked at several times, and is looked at less and less.
      await new Promise((resolve) => setTimeout(resolve, 4_500));
      const sleeper = await startSleeper(null);
      await sleeper.stop();
      layRun(world, OLD, identityOf(sleeper));
      const laid = performance.now();
      await waitUntil('the supervisor to end it', () => supervisor.said().includes(`${OLD} has ended`));
      expect(performance.now() - laid).toBeLessThan(4_000);
    });
  });
});
