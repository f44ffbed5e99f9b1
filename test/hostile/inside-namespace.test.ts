/**
 * A container, told from one place: who lives in a pid namespace and keeps the store there is judged there, once
 * it is said or seen that its runs are its own (design 5.3).
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { type LaidRun, layRun } from '../support/lay-run.ts';
import { startSleep } from '../support/live-runs.ts';
import { askData } from '../support/machine.ts';
import { inPidNamespace, whyNoNamespaces } from '../support/namespaces.ts';
import { pythonFloat } from '../support/python-json.ts';
import { startPythonWriter } from '../support/python-writer.ts';
import { rewrittenWithoutNeed } from '../support/record-compare.ts';
import { endOf, REAPED } from '../support/runs-of-all-sorts.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';
import { type InnerProcess, type Inside, startInside } from './inside.ts';
import { originHere } from './live-conditions.ts';

const why = whyNoNamespaces();
const RUN = '20260101T000000-c0ffee';
const CONTAINER = inPidNamespace('with its own /proc');
const OPEN = { terminal: false, outcome: null };
const ENDED = { terminal: true, outcome: 'indeterminate', terminal_source: 'mcp_orphan_reaper' };

function lay(world: World, { pid, createTime }: Pick<InnerProcess, 'pid' | 'createTime'>): LaidRun {
  const number = new JsonNumber(String(pid));
  return layRun(world, RUN, {
    pid: number,
    pgid: number,
    pid_create_time: new JsonNumber(pythonFloat(createTime)),
  });
}

/** A run whose number another process has by now, one with this mark. */
async function layHandedOn(world: World, place: Inside, mark: string | null): Promise<LaidRun> {
  configure(world, 'judge_unowned_records: true\n');
  const started = await place.start(RUN);
  const run = lay(world, started);
  await place.kill(started.pid);
  await laterThan(started);
  const other = await place.start(mark, started.pid);
  expect(other.pid).toBe(started.pid);
  return run;
}

async function inside<T>(world: World, work: (place: Inside) => Promise<T>): Promise<T> {
  const place = await startInside(world, CONTAINER);
  world.onDispose(place.end);
  return work(place);
}

const statusIn = async (place: Inside) => (await place.lion(['job', 'status', RUN])).data;

/** Within 0.1 s two processes cannot be told apart by their start times, which are whole seconds off at most. */
const laterThan = ({ createTime }: InnerProcess) =>
  waitUntil('a later start time', () => Date.now() / 1000 - createTime > 1.5);

/** The verbs one after the other: whichever comes first does what is to be done. */
const VERBS = [['status', RUN], ['list'], ['wait', RUN, '--max-wait', '0']] as const;

describe.skipIf(why !== null)(`inside a pid namespace${why === null ? '' : ` (skipped: ${why})`}`, () => {
  it.each(VERBS.map((verb) => [verb[0], verb] as const))(
    'whoever confirms a live run writes down where it lives, by %s, and its death is judged there then',
    async (_, verb) => {
      await inWorld((world) =>
        inside(world, async (place) => {
          const started = await place.start(RUN);
          const run = lay(world, started);
          const before = run.text();
          await place.lion(['job', ...verb]);
          const origin = originHere().set('pid_namespace', new JsonNumber(String(place.pidNamespace)));
          expect(run.record().get('origin')).toEqual(origin);
          expect(rewrittenWithoutNeed(before, run.text())).toEqual([]);
          expect([...run.record().keys()].slice(0, -1)).toEqual([...lay(world, started).record().keys()]);
        }),
      );
    },
  );

  it('the whole life of a run: confirmed, written down, alive, not for others to judge, gone, ended', async () => {
    await inWorld((world) =>
      inside(world, async (place) => {
        const started = await place.start(RUN);
        const run = lay(world, started);
        expect(await statusIn(place)).toMatchObject({
          ...OPEN,
          status: 'running',
          pid_identity: 'confirmed',
        });
        const stamped = run.text();
        expect(run.record().has('origin')).toBe(true);
        expect(await statusIn(place)).toMatchObject({
          ...OPEN,
          status: 'running',
          pid_identity: 'confirmed',
        });
        expect(await askData(world, ['job', 'status', RUN])).toMatchObject(OPEN);
        expect(run.text()).toBe(stamped);
        await place.kill(started.pid);
        expect(await askData(world, ['job', 'status', RUN])).toMatchObject({
          ...OPEN,
          pid_identity: 'other_host',
        });
        expect(run.text()).toBe(stamped);
        expect(await statusIn(place)).toMatchObject({ ...ENDED, liveness_conclusion: 'process_gone' });
        expect(endOf(run)).toEqual(REAPED);
        expect(rewrittenWithoutNeed(stamped, run.text())).toEqual([]);
        expect(await askData(world, ['job', 'status', RUN])).toMatchObject(ENDED);
      }),
    );
  });

  it('nothing is written down while another holds the lock, and it is at the next look', async () => {
    await inWorld((world) =>
      inside(world, async (place) => {
        const run = lay(world, await place.start(RUN));
        const before = run.text();
        const writer = await startPythonWriter();
        world.onDispose(writer.stop);
        await writer.ask({ do: 'hold', run_dirs: [run.dir] });
        expect(await statusIn(place)).toMatchObject({
          ...OPEN,
          status: 'running',
          pid_identity: 'confirmed',
        });
        expect(run.text()).toBe(before);
        await writer.ask({ do: 'release' });
        await statusIn(place);
        expect(run.record().has('origin')).toBe(true);
      }),
    );
  });

  it('a run that nobody ever confirmed there stays open after its death, until the store is said to be its own', async () => {
    await inWorld((world) =>
      inside(world, async (place) => {
        const started = await place.start(RUN);
        await place.kill(started.pid);
        const run = lay(world, started);
        const before = run.text();
        expect(await statusIn(place)).toMatchObject({ ...OPEN, pid_identity: 'unjudgeable' });
        expect(run.text()).toBe(before);
        configure(world, 'judge_unowned_records: false\n');
        expect(await statusIn(place)).toMatchObject({ ...OPEN, pid_identity: 'unjudgeable' });
        expect(run.text()).toBe(before);
        configure(world, 'judge_unowned_records: true\n');
        expect(await statusIn(place)).toMatchObject(ENDED);
        expect(endOf(run)).toEqual(REAPED);
      }),
    );
  });

  it('a number that was really given to another process is seen to be', async () => {
    await inWorld((world) =>
      inside(world, async (place) => {
        const run = await layHandedOn(world, place, null);
        expect(await statusIn(place)).toMatchObject({ ...ENDED, pid_identity: 'recycled' });
        expect(endOf(run)).toEqual(REAPED);
      }),
    );
  });

  it('a number that was really given to another process of the same run keeps the run open', async () => {
    await inWorld((world) =>
      inside(world, async (place) => {
        const run = await layHandedOn(world, place, RUN);
        const before = run.text();
        expect(await statusIn(place)).toMatchObject({ ...OPEN, pid_identity: 'mark_contradicts' });
        expect(run.text()).toBe(before);
      }),
    );
  });

  it('a restarted container does not judge the runs of the one before, until the store is said to be its own', async () => {
    await inWorld(async (world) => {
      const run = await inside(world, async (place) => {
        const laid = lay(world, await place.start(RUN));
        await statusIn(place);
        await place.end();
        return laid;
      });
      // Held open, so that the next one gets another inode.
      const before = run.text();
      await inside(world, async (place) => {
        const origin = run.record().get('origin');
        const same =
          origin instanceof Map &&
          String(place.pidNamespace) === (origin.get('pid_namespace') as JsonNumber).text;
        if (!same) {
          expect(await statusIn(place)).toMatchObject({ ...OPEN, pid_identity: 'other_host' });
          expect(run.text()).toBe(before);
        }
        configure(world, 'judge_unowned_records: true\n');
        expect(await statusIn(place)).toMatchObject(ENDED);
      });
      rmSync(join(world.lionagiHome, 'mcp', 'liond.yaml'));
    });
  });

  it('a stranger with the number and the start time of a run outside is not taken for that run', async () => {
    await inWorld((world) =>
      inside(world, async (place) => {
        const outside = await startSleep({ mark: RUN });
        world.onDispose(outside.stop);
        const stranger = await place.start(null, outside.pid);
        const run = lay(world, outside);
        const before = run.text();
        const apart = Math.abs(stranger.createTime - outside.createTime);
        expect(apart, 'the two started together').toBeLessThan(0.1);
        expect(await statusIn(place)).toMatchObject(OPEN);
        expect(run.text()).toBe(before);
        await place.kill(stranger.pid);
        expect(await statusIn(place)).toMatchObject(OPEN);
        expect(await askData(world, ['job', 'status', RUN])).toMatchObject({ ...OPEN, status: 'running' });
        expect(run.text()).toBe(before);
      }),
    );
  });
});
