import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { endOf, layLive, noticeOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Open runs are probed every second; a busy machine may take its time. */
const WITHIN_MS = 10_000;

describe.concurrent('case 11: an orphan is found while nothing else happens', () => {
  it.each([
    ['watching', ''],
    ['with the watcher off', 'watch: false\n'],
  ])(
    'case 11: %s, a run whose process is killed is reaped and told of, with no file touched and nobody asking',
    async (_how, config) => {
      await inWorld(async (world) => {
        configure(world, config);
        const notifier = makeNotifier(world, 'notifier');
        const run = await layLive(world, runIdOf(1), { notify_command: notifier.command });
        await startSupervisor(world);
        await sleep(3_000); // everything it does at its start is done
        expect(run.record().get('finished_at')).toBeNull();
        const killedMs = Date.now();
        await run.process.stop();
        await waitUntil('its notice', () => noticeOf(run)?.ok === true, WITHIN_MS);
        expect(endOf(run)).toEqual(REAPED);
        const [call] = notifier.calls();
        expect((call?.at ?? 0) * 1000 - killedMs).toBeLessThan(WITHIN_MS);
        expect(notifier.calls()).toHaveLength(1);
      });
    },
  );
});
