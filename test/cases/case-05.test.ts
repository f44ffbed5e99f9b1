import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { arrive } from '../support/arriving-runs.ts';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { goneIdentity } from '../support/lay-run.ts';
import { askData } from '../support/machine.ts';
import { endOf, REAPED } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

const ARRIVALS = 60;
/** Design 10: names are swept every 15 s; and what a busy machine takes for the rest. */
const SWEEP_MS = 15_000;
const SLACK_MS = 15_000;

describe.concurrent('case 5: a file made in a brand-new folder is found all the same', () => {
  it.each([
    ['watching', ''],
    ['by its sweeps alone', 'watch: false\n'],
  ])(
    'case 5: %s, the supervisor finds every run that arrives by mkdir, 2 ms, temporary file, rename, with nothing written afterwards',
    async (_how, config) => {
      await inWorld(async (world) => {
        configure(world, config);
        await startSupervisor(world);
        const runs = await arrive(world, ARRIVALS, await goneIdentity());
        const { jobs } = await askData(world, ['job', 'list', '--limit', '1000']);
        const listed = jobs.map((job: { run_id: string }) => job.run_id).sort();
        expect(listed).toEqual(readdirSync(world.jobs).sort());
        expect(listed).toHaveLength(ARRIVALS);
        // The list ends gone runs too; these came after it.
        const later = await arrive(world, ARRIVALS, await goneIdentity(), ARRIVALS);
        const open = () => later.filter((run) => run.record().get('finished_at') === null);
        await waitUntil('all to be ended', () => open().length === 0, SWEEP_MS + SLACK_MS);
        for (const run of [...runs, ...later]) expect(endOf(run)).toEqual(REAPED);
      });
    },
  );
});
