import { mkdirSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { inWorld } from '../../support/in-world.ts';
import { layGone, runIdOf } from '../../support/runs-of-all-sorts.ts';
import { startSupervisor, supervisorEvents } from '../../support/supervisor.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Names are listed every 15 s: what comes sooner than this after a listing was seen by a watch. */
const WATCHED_WITHIN_MS = 8_000;

/** Removes the directory and makes it anew, until it has the number it had; false where numbers are not used again. */
function replaceInPlace(path: string): boolean {
  const { ino } = statSync(path);
  for (let n = 0; n < 50; n++) {
    rmSync(path, { recursive: true });
    mkdirSync(path);
    if (statSync(path).ino === ino) return true;
  }
  return false;
}

it('case 34: a root made anew with the number of the old one is watched again all the same', async () => {
  await inWorld(async (world) => {
    mkdirSync(world.jobs, { recursive: true });
    await startSupervisor(world);
    const isSame = replaceInPlace(world.jobs);
    await waitUntil('it to be noticed', () => supervisorEvents(world, 'desynced').length > 0);
    // The listing that follows would find the run without any watch.
    await sleep(2_500);
    const run = await layGone(world, runIdOf(1));
    await waitUntil(
      `the run to be ended, same number: ${isSame}`,
      () => run.record().get('finished_at'),
      WATCHED_WITHIN_MS,
    );
  });
});
