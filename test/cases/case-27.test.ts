import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import {
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  laySpawnFailed,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { makeWorld, type World } from '../support/world.ts';

const IDS = {
  succeeded: runIdOf(1),
  failed: runIdOf(2),
  cancelled: runIdOf(3),
  indeterminate: runIdOf(4),
  'spawn failed': runIdOf(5),
  running: runIdOf(6),
  unknown: '20200101T000000-ffffff',
  'advisory orphan': runIdOf(7),
  'never spawned': runIdOf(8),
  'also succeeded': runIdOf(9),
};
type Name = keyof typeof IDS;

let world: World;

beforeAll(async () => {
  world = await makeWorld();
  layEnded(world, IDS.succeeded, 'completed');
  layEnded(world, IDS['also succeeded'], 'completed');
  layEnded(world, IDS.failed, 'failed');
  layEnded(world, IDS.cancelled, 'cancelled');
  await layGone(world, IDS.indeterminate);
  laySpawnFailed(world, IDS['spawn failed']);
  await layLive(world, IDS.running);
  layAdvisory(world, IDS['advisory orphan']);
  layPreparing(world, IDS['never spawned'], 700);
});

afterAll(async () => {
  expect(await world.dispose()).toEqual([]);
});

async function exitOf(names: readonly Name[], ...options: string[]): Promise<number | null> {
  const args = ['job', 'wait', ...names.map((name) => IDS[name]), '--poll-interval', '0.05', ...options];
  return (await runLion(args, world)).exitCode;
}

const ENDED = ['succeeded', 'failed', 'cancelled', 'indeterminate', 'spawn failed'] as const;

describe('case 27: wait tells by its exit status what happened', () => {
  it.concurrent.each<[Name, number]>([
    ['succeeded', 0],
    ['failed', 1],
    ['cancelled', 1],
    ['indeterminate', 1],
    ['spawn failed', 1],
    ['running', 3],
    ['unknown', 2],
    ['advisory orphan', 4],
    ['never spawned', 4],
  ])('case 27: %s alone: %d', async (name, status) => {
    expect(await exitOf([name], '--max-wait', '0.3')).toBe(status);
  });

  it.concurrent.each<[string, readonly Name[], number]>([
    ['all that succeeded', ['succeeded', 'also succeeded'], 0],
    ['all that ended, one of them indeterminate, which is an end', [...ENDED], 1],
    ['with one still running', [...ENDED, 'running'], 3],
    ['with one that stopped without an end', [...ENDED, 'advisory orphan'], 4],
    ['with one running and one stopped: the window closed', ['succeeded', 'running', 'advisory orphan'], 3],
    ['with an unknown id', [...ENDED, 'unknown'], 2],
    ['with everything', [...ENDED, 'running', 'unknown', 'advisory orphan'], 2],
  ])('case 27: all: %s', async (_what, names, status) => {
    expect(await exitOf(names, '--max-wait', '0.3')).toBe(status);
  });

  it.concurrent.each<[string, readonly Name[], number]>([
    ['one succeeded, one runs', ['succeeded', 'running'], 0],
    ['one failed, one runs', ['running', 'failed'], 1],
    ['one is indeterminate, one runs', ['running', 'indeterminate'], 1],
    ['none has ended', ['running'], 3],
    [
      'one succeeded, one runs, one stopped: something runs, so it is not 4',
      ['succeeded', 'running', 'advisory orphan'],
      0,
    ],
    ['one succeeded, one stopped', ['succeeded', 'advisory orphan'], 0],
    ['an unknown id beside one that succeeded', ['succeeded', 'unknown'], 2],
  ])('case 27: --any: %s', async (_what, names, status) => {
    expect(await exitOf(names, '--any', '--max-wait', '0.3')).toBe(status);
  });

  it('case 27: --any returns at the first end and does not wait for the rest', async () => {
    const { data, ms } = await timed(['succeeded', 'running'], '--any', '--max-wait', '60');
    expect(ms).toBeLessThan(30_000);
    expect(data).toMatchObject({ all_terminal: false, timed_out: false, pending: [IDS.running] });
  });

  it('case 27: an unknown id answers at once and does not hide the others', async () => {
    const run = await runLion(['job', 'wait', IDS.unknown, IDS.running, IDS.succeeded], world);
    expect([run.exitCode, run.ms < 30_000]).toEqual([2, true]);
    expect(run.stdout).toMatch(/not_found/);
    expect(run.stdout).toMatch(new RegExp(`${IDS.running} {2}running {2}still running`));
    expect(run.stdout).toMatch(new RegExp(`${IDS.succeeded} {2}completed {2}succeeded`));
  });

  it('case 27: the indeterminate one counts as ended', async () => {
    const { data } = await timed([...ENDED]);
    expect(data).toMatchObject({ all_terminal: true, timed_out: false, stopped_without_end: [] });
  });

  it('case 27: under --machine the status is 0 whatever happened, and the envelope says the rest', async () => {
    const { data } = await timed([...ENDED, 'running', 'unknown', 'advisory orphan'], '--max-wait', '0');
    expect(data.all_terminal).toBe(false);
    expect(data.runs.map((entry: { outcome: string | null }) => entry.outcome)).toEqual([
      'succeeded',
      'failed',
      'cancelled',
      'indeterminate',
      'failed',
      null,
      null,
      null,
    ]);
  });

  async function timed(names: readonly Name[], ...options: string[]) {
    const began = performance.now();
    const data = await askData(world, ['job', 'wait', ...names.map((name) => IDS[name]), ...options]);
    return { data, ms: performance.now() - began };
  }
});
