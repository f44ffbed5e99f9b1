import { expect, it } from 'vitest';
import { arrive } from '../support/arriving-runs.ts';
import { figuresOf } from '../support/figures.ts';
import { inWorld } from '../support/in-world.ts';
import { goneIdentity } from '../support/lay-run.ts';
import { endOf, REAPED } from '../support/runs-of-all-sorts.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** All of them, with the figures printed: `LION_DRILL_ARRIVALS=1500 npx vitest run test/drills/arrivals.test.ts` */
const asked = Number(process.env.LION_DRILL_ARRIVALS ?? 0);
const ARRIVALS = asked > 0 ? asked : 300;
/** Names are swept every 15 s; a busy machine may take its time. */
const SWEEP_MS = 15_000;
const BOUND_MS = asked > 0 ? SWEEP_MS + 1_000 : 5 * SWEEP_MS;

it(`${ARRIVALS} runs of a gone process arrive by mkdir, 2 ms, temporary file, rename: each is found and ended, the slowest within the name sweep`, async () => {
  await inWorld(async (world) => {
    await startSupervisor(world);
    const runs = await arrive(world, ARRIVALS, await goneIdentity());
    await waitUntil(
      'all to be ended',
      () => supervisorEvents(world, 'ended').length >= ARRIVALS,
      BOUND_MS + 30_000,
    );
    const endedMs = new Map(
      supervisorEvents(world, 'ended').map((each) => [each.run_id, Date.parse(each.time)]),
    );
    const tookMs = runs.map((run) => (endedMs.get(run.runId) ?? Number.NaN) - run.arrivedMs);
    if (asked > 0)
      process.stdout.write(
        `${ARRIVALS} arrivals, from the rename to the durable end: ${figuresOf(tookMs)}\n`,
      );
    expect(endedMs.size).toBe(ARRIVALS);
    for (const run of runs) expect(endOf(run)).toEqual(REAPED);
    expect(Math.max(...tookMs)).toBeLessThan(BOUND_MS);
  });
}, 300_000);
