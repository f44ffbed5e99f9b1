import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Event } from '../../daemon/journal.ts';
import { startSupervisor } from '../../daemon/supervisor.ts';
import { openEngine } from '../../shared/engine.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { startGroupSurvivors } from '../support/processes.ts';
import { endOf, layLive, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const HOUR_MS = 3_600_000;

afterEach(() => vi.restoreAllMocks());

interface Clocked {
  readonly events: Event[];
  setBack(): Promise<void>;
}

/** A supervisor of our own process, whose wall clock can be set. */
async function superviseIn(world: World): Promise<Clocked> {
  const now = Date.now.bind(Date);
  let offsetMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + offsetMs);
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  const events: Event[] = [];
  const supervisor = startSupervisor(
    engine,
    (event) => events.push(event),
    () => [],
  );
  world.onDispose(() => supervisor.stop());
  await waitUntil('the first look', () => events.some(({ event }) => event === 'scanned'));
  return {
    events,
    async setBack() {
      offsetMs = -HOUR_MS;
      await waitUntil('the gap to be seen', () => events.some(({ event }) => event === 'desynced'));
    },
  };
}

async function reaped(run: LaidRun): Promise<void> {
  await waitUntil('the end', () => run.record().get('finished_at'), 20_000);
  expect(endOf(run)).toEqual(REAPED);
}

describe('case 68: the wall clock is set back by an hour while the supervisor runs', () => {
  it('case 68: a run that dies after that is ended within seconds, and told of', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = await layLive(world, runIdOf(1), { notify_command: notifier.command });
      const { events, setBack } = await superviseIn(world);
      await sleep(1_500);
      await setBack();
      await run.process.stop();
      await reaped(run);
      await waitUntil('the notice', () => notifier.calls().length === 1);
      expect(events.filter(({ event }) => event === 'desynced')).toHaveLength(1);
    });
  });

  it('case 68: an end that waits for what is left of its run does not wait for the hour to pass again', async () => {
    await inWorld(async (world) => {
      const group = await startGroupSurvivors([runIdOf(1), runIdOf(1)]);
      world.onDispose(group.stop);
      const run = layRun(world, runIdOf(1), identityOf(group));
      const { setBack } = await superviseIn(world);
      await sleep(1_000);
      expect(run.record().get('finished_at')).toBeNull();
      await setBack();
      await reaped(run);
      expect(group.fates()).toEqual(['alive', 'alive']);
    });
  });
});
