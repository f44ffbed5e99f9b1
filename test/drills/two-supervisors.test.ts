import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { endOf, layGone, layLive, noticeOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** More of them: `LION_DRILL_DEATHS=200 npx vitest run test/drills/two-supervisors.test.ts` */
const asked = Number(process.env.LION_DRILL_DEATHS ?? 0);
const DEATHS = asked > 0 ? asked : 24;

it('two supervisors on one store, its lock file removed by hand: one end and one attempt a run, and one of them goes', async () => {
  await inWorld(async (world) => {
    const notifier = makeNotifier(world, 'notifier');
    const members = { notify_command: notifier.command };
    const early = await Promise.all(
      Array.from({ length: DEATHS / 2 }, (_, n) => layLive(world, runIdOf(n), members)),
    );
    const first = await startSupervisor(world);
    rmSync(join(world.lionagiHome, 'mcp', 'liond', 'instance.lock'));
    const second = await startSupervisor(world);
    expect([first.isRunning(), second.isRunning()]).toEqual([true, true]);
    await Promise.all(early.map((run) => run.process.stop()));
    const late = await Promise.all(
      Array.from({ length: DEATHS / 2 }, (_, n) => layGone(world, runIdOf(1000 + n), members)),
    );
    const runs = [...early, ...late];
    await waitUntil('every notice', () => runs.every((run) => noticeOf(run)?.ok === true), 60_000);
    const told = notifier.calls().map((call) => call.args[0]);
    expect(new Set(told).size).toBe(runs.length);
    expect(told.length).toBe(runs.length);
    for (const run of runs) expect(endOf(run)).toEqual(REAPED);
    expect((await first.ended()).exitCode).toBe(75);
    expect(second.isRunning()).toBe(true);
    expect(first.said() + second.said()).toContain('has ended');
    await second.end('SIGTERM');
  });
}, 120_000);
