import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Degradations } from '../../../daemon/degradations.ts';
import type { Event } from '../../../daemon/journal.ts';
import { Watching } from '../../../daemon/watch/watching.ts';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { inWorld } from '../../support/in-world.ts';
import type { LaidRun } from '../../support/lay-run.ts';
import { layEnded, replaceRecord, runIdOf } from '../../support/runs-of-all-sorts.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { World } from '../../support/world.ts';

interface Watched {
  readonly watching: Watching;
  /** The runs that were to be looked at, in order. */
  readonly looks: string[];
  readonly desyncs: string[];
  readonly moves: string[];
  readonly events: Event[];
  configure(watch: boolean): void;
}

async function watchIn(world: World): Promise<Watched> {
  mkdirSync(world.jobs, { recursive: true });
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  let config = engine.config;
  const current: Engine = {
    ...engine,
    get config() {
      return config;
    },
  };
  const [looks, desyncs, moves, events]: [string[], string[], string[], Event[]] = [[], [], [], []];
  const watching = new Watching(current, new Degradations((event) => events.push(event)), {
    onRun: (runId) => looks.push(runId),
    onRootMoved: () => moves.push('moved'),
    onDesync: (why) => desyncs.push(why),
  });
  world.onDispose(() => watching.close());
  watching.rearm([]);
  const configure = (watch: boolean): void => {
    config = { ...config, watch };
  };
  return { watching, looks, desyncs, moves, events, configure };
}

/** Longer than what is waited for after the last event. */
const QUIET_MS = 300;

describe('a run directory that comes', () => {
  it('as a submitter makes it (directory, 2 ms, temporary file, rename) is looked at soon, once it is quiet', async () => {
    await inWorld(async (world) => {
      const { looks, desyncs } = await watchIn(world);
      for (let n = 0; n < 20; n++) {
        const dir = join(world.jobs, runIdOf(n));
        mkdirSync(dir);
        await sleep(2);
        writeFileSync(join(dir, 'temporary'), '{}');
        renameSync(join(dir, 'temporary'), join(dir, 'job.json'));
        await sleep(5);
      }
      await waitUntil('a look at each', () => new Set(looks).size === 20, 2_000);
      expect(desyncs).toEqual([]);
      // A busy machine may be quiet between the two steps of one.
      expect(looks.length).toBeLessThanOrEqual(40);
    });
  });

  it('and one that goes is looked at too', async () => {
    await inWorld(async (world) => {
      const { looks } = await watchIn(world);
      layEnded(world, runIdOf(1), 'completed');
      await waitUntil('the look', () => looks.length === 1);
      rmSync(join(world.jobs, runIdOf(1)), { recursive: true });
      await waitUntil('another', () => looks.length === 2);
      expect(looks).toEqual([runIdOf(1), runIdOf(1)]);
    });
  });
});

describe('a run that is followed', () => {
  it('case 53: 20 replaces of its record, 50 ms apart: the last look is after the last replace', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, runIdOf(1), 'completed');
      const { watching, looks } = await watchIn(world);
      watching.follow(run.runId, true);
      await untilFollowed(run, looks);
      let before = 0;
      for (let n = 1; n <= 20; n++) {
        replaceRecord(run, { label: `${n}` });
        before = looks.length;
        await sleep(50);
      }
      await waitUntil('the look after the last replace', () => looks.length > before, 2_000);
      await sleep(QUIET_MS);
      expect(new Set(looks)).toEqual(new Set([run.runId]));
    });
  });

  it('and let go of is not looked at any more', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, runIdOf(1), 'completed');
      const { watching, looks } = await watchIn(world);
      watching.follow(run.runId, true);
      expect(watching.count).toBe(1);
      await untilFollowed(run, looks);
      watching.follow(run.runId, false);
      await sleep(QUIET_MS);
      const before = looks.length;
      replaceRecord(run, { label: 'again' });
      await sleep(QUIET_MS);
      expect([looks.length, watching.count]).toEqual([before, 0]);
    });
  });
});

describe('watching anew', () => {
  it('loses nothing that was seen and not yet looked at', async () => {
    await inWorld(async (world) => {
      const { watching, looks } = await watchIn(world);
      mkdirSync(join(world.jobs, runIdOf(1)));
      await sleep(30);
      watching.rearm([]);
      await waitUntil('the look', () => looks.includes(runIdOf(1)), 1_000);
    });
  });

  it('sets no watch anew where the configuration says what it said before', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, runIdOf(1), 'completed');
      const { watching } = await watchIn(world);
      watching.follow(run.runId, true);
      watching.reconfigure([]);
      expect(watching.count).toBe(1);
    });
  });

  it('switched off it is said and silent, switched on it follows the open runs again', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, runIdOf(1), 'completed');
      const { watching, looks, events, configure } = await watchIn(world);
      configure(false);
      watching.reconfigure([run.runId]);
      layEnded(world, runIdOf(2), 'completed');
      await sleep(QUIET_MS);
      expect([looks, watching.count]).toEqual([[], 0]);
      expect(events).toMatchObject([{ event: 'degraded', code: 'watch_off' }]);
      configure(true);
      watching.reconfigure([run.runId]);
      layEnded(world, runIdOf(3), 'completed');
      await waitUntil('the look', () => looks.includes(runIdOf(3)));
      expect([watching.count, events.at(-1)]).toEqual([1, { event: 'recovered', code: 'watch_off' }]);
    });
  });

  it('a root that is not there is no fault; it is asked for again when it comes', async () => {
    await inWorld(async (world) => {
      const { watching, moves, events } = await watchIn(world);
      rmSync(world.jobs, { recursive: true });
      watching.rearm([]);
      mkdirSync(world.jobs);
      await waitUntil('it to be seen', () => moves.length > 0);
      expect(events).toEqual([]);
    });
  });
});

/** Setting a watch takes a while; what is changed before shows in no event. */
async function untilFollowed(run: LaidRun, looks: readonly string[]): Promise<void> {
  const before = looks.length;
  await waitUntil('the run to be followed', async () => {
    replaceRecord(run, { label: 'first' });
    await sleep(100);
    return looks.length > before;
  });
}
