import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configure, FAST_RETRIES } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { giveToOrdinaryUser } from '../support/someone-else.ts';
import { makeNotifier, type NotifierStandIn } from '../support/stand-ins.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const MAX_ATTEMPTS = 6;
/** Many times what all the attempts take. */
const WATCHED_MS = 8_000;

interface Failing {
  readonly notifier: NotifierStandIn;
  readonly run: LaidRun;
  readonly uid: number | undefined;
}

/** A notice owed through a notifier that always fails, in a store of a user whom file modes bind. */
function layFailing(world: World): Failing {
  configure(world, `notify: {${FAST_RETRIES}, max_attempts: ${MAX_ATTEMPTS}}\n`);
  const notifier = makeNotifier(world, 'notifier', 'sys.exit(75)');
  // Made here, so that it belongs to that user too.
  writeFileSync(join(world.root, 'notifier.log'), '');
  const run = layOwed(world, runIdOf(1), notifier.command);
  return { notifier, run, uid: giveToOrdinaryUser(world).uid };
}

function isGivenUp(run: LaidRun): boolean {
  return noticeOf(run).retry?.parked?.reason === 'attempts_exhausted';
}

async function firstTry({ notifier, run }: Failing): Promise<void> {
  await waitUntil('the first try', () => notifier.calls().length >= 1 && noticeOf(run).retry !== undefined);
}

/** To the documented number and no further. */
async function expectExhausted({ notifier, run }: Failing): Promise<void> {
  await waitUntil('it to be given up', () => isGivenUp(run), 60_000);
  await sleep(3_000);
  expect(notifier.calls()).toHaveLength(MAX_ATTEMPTS);
  expect(noticeOf(run).attempts).toBe(MAX_ATTEMPTS);
}

describe.concurrent('case 75: no retry becomes a storm', () => {
  it('case 75: where the record cannot be written no notifier is started, and that is said; afterwards it goes on to the documented number', async () => {
    await inWorld(async (world) => {
      const failing = layFailing(world);
      const supervisor = await startSupervisor(world, { uid: failing.uid });
      await firstTry(failing);
      chmodSync(failing.run.dir, 0o500);
      await sleep(500); // one that was just under way
      const started = failing.notifier.calls().length;
      await sleep(WATCHED_MS);
      expect(failing.notifier.calls()).toHaveLength(started);
      expect(supervisorEvents(world, 'degraded').map((each) => each.code)).toContain('notice_not_recorded');
      expect(supervisor.said()).toContain('1 notices cannot be recorded, and without that none is sent');
      chmodSync(failing.run.dir, 0o700);
      await expectExhausted(failing);
      expect(supervisorEvents(world, 'recovered').map((each) => each.code)).toContain('notice_not_recorded');
    });
  });

  it('case 75: the supervisor\u2019s own directory cannot be written: the same number of tries', async () => {
    await inWorld(async (world) => {
      const failing = layFailing(world);
      await startSupervisor(world, { uid: failing.uid });
      await firstTry(failing);
      const state = join(world.lionagiHome, 'mcp', 'liond');
      chmodSync(state, 0o500);
      world.onDispose(() => chmodSync(state, 0o700));
      await expectExhausted(failing);
    });
  });

  it('case 75: restarted after every try: the number counts across restarts', async () => {
    await inWorld(async (world) => {
      const failing = layFailing(world);
      for (let tries = 1; !isGivenUp(failing.run); tries++) {
        const supervisor = await startSupervisor(world, { uid: failing.uid });
        const isOver = () => isGivenUp(failing.run) || failing.notifier.calls().length >= tries;
        await waitUntil('a try', isOver, 30_000);
        await waitUntil('its result', () => noticeOf(failing.run).claim === undefined);
        await supervisor.end(tries % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
        expect(tries).toBeLessThanOrEqual(MAX_ATTEMPTS + 1);
      }
      await startSupervisor(world, { uid: failing.uid });
      await expectExhausted(failing);
    });
  });
});
