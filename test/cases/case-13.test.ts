import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { stateOf } from '../support/live-runs.ts';
import { endOf, layLive, layOwed, noticeOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { type RunningSupervisor, startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** Longer than a gap that the supervisor takes for a busy moment. */
const FROZEN_MS = 8_000;
/** The first minute after the thaw, scaled down: several probes, and a look at what is due. */
const WATCHED_MS = 6_000;

/** SIGSTOP stands for sleep. */
async function freeze(supervisor: RunningSupervisor): Promise<void> {
  supervisor.signal('SIGSTOP');
  await waitUntil('the supervisor to stand still', () => stateOf(supervisor.pid) === 'T');
}

/** One run that goes on and one that will be killed. */
async function layTwo(world: World) {
  const notifier = makeNotifier(world, 'notifier');
  const members = { notify_command: notifier.command };
  const lives = await layLive(world, runIdOf(1), members);
  const dies = await layLive(world, runIdOf(2), members);
  return { notifier, lives, dies };
}

/** One reap and one notice for the run that died, nothing for the other, and one rescan for each gap. */
async function expectCalm(
  world: World,
  { notifier, lives, dies }: Awaited<ReturnType<typeof layTwo>>,
  gaps: number,
): Promise<void> {
  await waitUntil('the notice', () => noticeOf(dies)?.ok === true);
  await sleep(WATCHED_MS);
  expect(notifier.calls().map((call) => call.args[0])).toEqual([dies.runId]);
  expect(endOf(dies)).toEqual(REAPED);
  expect(supervisorEvents(world, 'ended').map((each) => each.run_id)).toEqual([dies.runId]);
  expect(lives.record().get('finished_at')).toBeNull();
  expect(supervisorEvents(world, 'desynced')).toHaveLength(gaps);
  expect(supervisorEvents(world).filter((each) => ['fault', 'refused'].includes(each.event))).toEqual([]);
}

describe.concurrent('case 13: a machine that slept loses no work and steals none', () => {
  it('case 13: frozen while one run is killed: one end and one notice for it, none for the other, one rescan for each gap', async () => {
    await inWorld(async (world) => {
      const laid = await layTwo(world);
      const supervisor = await startSupervisor(world);
      await sleep(2_000);
      await freeze(supervisor);
      await sleep(FROZEN_MS);
      await laid.dies.process.stop();
      supervisor.signal('SIGCONT');
      await expectCalm(world, laid, 1);
      await freeze(supervisor);
      await sleep(FROZEN_MS);
      supervisor.signal('SIGCONT');
      await expectCalm(world, laid, 2);
    });
  });

  it('case 13: the wall clock leaps three hours ahead, as at a wake-up of a machine whose steady clock stood still: the same', async () => {
    await inWorld(async (world) => {
      const leap = join(world.root, 'leap');
      const clock = join(world.root, 'leaping-clock.mjs');
      writeFileSync(
        clock,
        `import { existsSync } from 'node:fs';
const now = Date.now;
Date.now = () => now() + (existsSync(${JSON.stringify(leap)}) ? 3 * 3600_000 : 0);
`,
      );
      const laid = await layTwo(world);
      world.env.NODE_OPTIONS = `--import ${clock}`;
      await startSupervisor(world);
      await sleep(2_000);
      await laid.dies.process.stop();
      writeFileSync(leap, '');
      await expectCalm(world, laid, 1);
    });
  });

  it('case 13: frozen beyond the timeout and the claim of a notice that went out meanwhile: it is known to have gone out, and is not sent again', async () => {
    await inWorld(async (world) => {
      configure(world, 'notify: {timeout_seconds: 1}\n');
      // It has exited before its timeout; a helper of its holds the pipe.
      const body = `
import subprocess
subprocess.Popen(["sleep", "25"])
time.sleep(0.3)`;
      const notifier = makeNotifier(world, 'notifier', body);
      const supervisor = await startSupervisor(world);
      const run = layOwed(world, runIdOf(1), notifier.command);
      await waitUntil('the notifier to start', () => notifier.calls().length === 1);
      await freeze(supervisor);
      expect(noticeOf(run).claim).toBeDefined();
      await waitUntil(
        'the claim to have run out',
        () => Date.now() > Date.parse(noticeOf(run).claim.deadline),
        60_000,
      );
      await sleep(1_000);
      supervisor.signal('SIGCONT');
      await waitUntil('its result', () => noticeOf(run).claim === undefined);
      await sleep(WATCHED_MS);
      expect(noticeOf(run)).toMatchObject({ ok: true, exit_code: 0, attempts: 1 });
      expect(notifier.calls()).toHaveLength(1);
      expect(supervisorEvents(world, 'notice').map((each) => each.state)).toEqual(['delivered']);
    });
  });
});
