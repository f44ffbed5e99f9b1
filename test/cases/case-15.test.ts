import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { endOf, layGone, layLive, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A user namespace of its own, in which ten files can be watched and no more. */
const TEN_WATCHES =
  'exec unshare -Ur sh -c \'echo 10 > /proc/sys/user/max_inotify_watches; exec "$@"\' sh "$@"';

describe('case 15: the watch limit is reached', () => {
  it('case 15: it is said with cause and cure, nothing crashes, and every death is found by the sweeps', async () => {
    await inWorld(async (world) => {
      const runs = await Promise.all(Array.from({ length: 12 }, (_, n) => layLive(world, runIdOf(n))));
      const supervisor = await startSupervisor(world, { through: TEN_WATCHES });
      const degraded = async (): Promise<{ code: string; cause: string; cure: string }[]> =>
        (await askData(world, ['daemon', 'status'])).degraded;
      await waitUntil('it to say so', async () => (await degraded()).length > 0, 20_000);
      expect(await degraded()).toMatchObject([
        {
          code: 'watch_limit_reached',
          cause: expect.stringContaining('ENOSPC'),
          cure: expect.stringContaining('max_user_watches'),
        },
      ]);
      await Promise.all(runs.map((run) => run.process.stop()));
      const late = await layGone(world, runIdOf(50));
      await waitUntil(
        'all to be ended',
        () => [...runs, late].every((run) => run.record().get('finished_at')),
        40_000,
      );
      for (const run of runs) expect(endOf(run)).toEqual(REAPED);
      expect(supervisor.isRunning()).toBe(true);
      expect(supervisor.complained()).toBe('');
      expect(supervisorEvents(world, 'degraded')).toHaveLength(1);
    });
  });
});
