import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { openIndexReader } from '../../../shared/index/read-index.ts';
import { indexFileOf } from '../../../shared/index/schema.ts';
import { countRuns, listRuns } from '../../../shared/run/list.ts';
import { type ListFilter, NO_FILTER } from '../../../shared/run/list-filter.ts';
import { tamper } from '../../daemon/index/opened.ts';
import { inWorld } from '../../support/in-world.ts';
import { layEnded, replaceRecord, runIdOf } from '../../support/runs-of-all-sorts.ts';
import type { World } from '../../support/world.ts';
import { IndexingByHand } from './indexing-by-hand.ts';

const LATER_MS = 20 * 60_000;

async function engineLater(world: World): Promise<Engine> {
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  return { ...engine, now: () => Date.now() + LATER_MS };
}

/** Three settled runs, indexed by a supervisor that has been stopped. */
async function indexed(world: World): Promise<Engine> {
  const engine = await engineLater(world);
  for (const n of [1, 2, 3]) layEnded(world, runIdOf(n), 'completed');
  const indexing = new IndexingByHand(engine);
  await indexing.round({ stats: true, looks: null });
  await indexing.close();
  return engine;
}

async function listed(engine: Engine, filter: Partial<ListFilter> = {}, useIndex = true) {
  const request = { limit: 10, afterRunId: null, filter: { ...NO_FILTER, ...filter }, useIndex };
  const { rows, index } = await listRuns(engine, request);
  return { ids: rows.map((row) => row.run_id), statuses: rows.map((row) => row.status), index };
}

const USED = { used: true, why: null };
const ALL = [3, 2, 1].map(runIdOf);

describe('the index', () => {
  it('is used where it is whole', () =>
    inWorld(async (world) => {
      expect(await listed(await indexed(world))).toMatchObject({ ids: ALL, index: USED });
    }));

  it.each<[string, (world: World, engine: Engine) => void, string]>([
    ['missing', (_, { home }) => rmSync(indexFileOf(home.stateDir)), 'no_index'],
    ['a text', (_, { home }) => writeFileSync(indexFileOf(home.stateDir), 'no index'), 'corrupt'],
    [
      'of another version',
      (_, { home }) => tamper(home.stateDir, 'PRAGMA user_version = 999'),
      'other_version',
    ],
    ['not complete', (_, { home }) => tamper(home.stateDir, 'DELETE FROM meta'), 'not_complete'],
    [
      'changed in one word of one row',
      (_, { home }) => tamper(home.stateDir, "UPDATE runs SET kind = 'x' WHERE run_id LIKE '%1'"),
      'corrupt',
    ],
    [
      'changed in one word of what a block says of its runs',
      (_, { home }) =>
        tamper(home.stateDir, 'UPDATE blocks SET digest = replace(digest, \'"runs":3\', \'"runs":2\')'),
      'corrupt',
    ],
    ['of another jobs directory', ({ jobs }) => moveAway(jobs), 'other_root'],
  ])('case 56: %s: the list scans, says why, and is the same', (_, change, why) =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      change(world, engine);
      expect(await listed(engine)).toMatchObject({ ids: ALL, index: { used: false, why } });
    }),
  );

  it('is not asked, or switched off', () =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      expect((await listed(engine, {}, false)).index).toEqual({ used: false, why: 'not_asked' });
      const off = { ...engine, config: { ...engine.config, index: false } };
      expect((await listed(off)).index).toEqual({ used: false, why: 'switched_off' });
    }));

  it('case 56: with a block whose facts are damaged: a filter that reads them scans', () =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      tamper(engine.home.stateDir, "UPDATE blocks SET facts = replace(facts, 'completed', 'complfted')");
      const found = await listed(engine, { status: 'completed' });
      expect(found).toMatchObject({ ids: ALL, index: { used: false, why: 'corrupt' } });
      // Passed over by what the block says of itself, which is whole.
      expect(await listed(engine, { status: 'failed' })).toMatchObject({ ids: [], index: USED });
    }));

  it('whose block lacks its row costs the listing of it by its record, and no run', () =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      tamper(engine.home.stateDir, `DELETE FROM runs WHERE run_id = '${runIdOf(2)}'`);
      expect(await listed(engine)).toMatchObject({ ids: ALL, index: USED });
      expect(await listed(engine, { status: 'completed' })).toMatchObject({ ids: ALL, index: USED });
    }));

  it('whose block goes while it is read gives each run once', () =>
    inWorld(async (world) => {
      layEnded(world, runIdOf(4), 'completed');
      const engine = await indexed(world);
      const reader = await openIndexReader(engine);
      if (typeof reader === 'string') throw new Error(reader);
      world.onDispose(() => reader.close());
      let asked = 0;
      const admits = (): boolean => {
        asked += 1;
        tamper(engine.home.stateDir, 'DELETE FROM blocks');
        return true;
      };
      const runs = [...reader.runsBelow(null, { admits, values: {} })];
      expect(asked).toBe(1);
      expect(runs.map(({ runId }) => runId)).toEqual([4, 3, 2, 1].map(runIdOf));
    }));

  it('that lacks a block reads its rows', () =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      tamper(engine.home.stateDir, 'DELETE FROM blocks');
      expect(await listed(engine)).toMatchObject({ ids: ALL, index: USED });
      expect(await listed(engine, { status: 'failed' })).toMatchObject({ ids: [], index: USED });
    }));

  it('that lacks a row costs a listing of names, and no run', () =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      tamper(engine.home.stateDir, `DELETE FROM blocks; DELETE FROM runs WHERE run_id = '${runIdOf(2)}'`);
      expect(await listed(engine)).toMatchObject({ ids: ALL, index: USED });
      expect(await listed(engine, { status: 'completed' })).toMatchObject({ ids: ALL, index: USED });
    }));

  it('has one limit: a foreign change of an old end shows on its page, under filters after a look', () =>
    inWorld(async (world) => {
      const engine = await indexed(world);
      const run = layEnded(world, runIdOf(2), 'completed');
      replaceRecord(run, { status: 'failed' });
      expect((await listed(engine)).statuses).toEqual(['completed', 'failed', 'completed']);
      expect((await listed(engine, { status: 'completed' })).ids).toEqual([3, 1].map(runIdOf));
      expect((await listed(engine, { status: 'failed' })).ids).toEqual([]);
      expect((await listed(engine, { status: 'failed' }, false)).ids).toEqual([runIdOf(2)]);
      const indexing = new IndexingByHand(engine);
      await indexing.round({ stats: true, looks: null });
      await indexing.close();
      expect((await listed(engine, { status: 'failed' })).ids).toEqual([runIdOf(2)]);
      const { counts } = await countRuns(engine, { filter: NO_FILTER, useIndex: true });
      expect(counts).toMatchObject({ total: 3, succeeded: 2, failed: 1 });
    }));
});

/** The same runs in a directory that is another one. */
function moveAway(jobs: string): void {
  renameSync(jobs, `${jobs}.away`);
  mkdirSync(jobs);
  cpSync(`${jobs}.away`, jobs, { recursive: true });
}
