import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { indexFileOf } from '../../../shared/index/schema.ts';
import { markTerminal } from '../../../shared/run/mark-terminal.ts';
import { inWorld } from '../../support/in-world.ts';
import { layAdvisory, layEnded, runIdOf } from '../../support/runs-of-all-sorts.ts';
import type { World } from '../../support/world.ts';
import { IndexingByHand } from './indexing-by-hand.ts';

const LATER_MS = 20 * 60_000;
const REAPED = { terminal_source: 'mcp_orphan_reaper' };

async function engineLater(world: World): Promise<Engine> {
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  return { ...engine, now: () => Date.now() + LATER_MS };
}

function lateHook(engine: Engine, runId: string) {
  const report = { status: 'completed', reasonCode: null, exitCode: 0, exitSignal: null, cause: null };
  return markTerminal(engine, runId, { ...report, owed: { owed: false } });
}

const touchedIn = ({ home }: Engine): string[] => {
  const directory = join(home.stateDir, 'touched');
  return existsSync(directory) ? readdirSync(directory).map((name) => name.replace(/~.*/, '')) : [];
};

describe('a writer of ours that changes an old end', () => {
  it('leaves word of it, for us alone, before the record is changed', () =>
    inWorld(async (world) => {
      const engine = await engineLater(world);
      layEnded(world, runIdOf(1), 'exited', REAPED);
      await lateHook(engine, runIdOf(1));
      expect(touchedIn(engine)).toEqual([runIdOf(1)]);
      const directory = join(engine.home.stateDir, 'touched');
      const [marker] = readdirSync(directory);
      const modes = [engine.home.stateDir, directory, join(directory, marker ?? '')].map((path) =>
        statSync(path),
      );
      expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '700', '600']);
      const record = statSync(join(world.jobs, runIdOf(1), 'job.json'), { bigint: true });
      expect(modes[2]?.mtimeMs).toBeLessThanOrEqual(Number(record.ctimeNs) / 1e6);
    }));

  it('leaves none for an open run, a young end, or where it changes nothing', () =>
    inWorld(async (world) => {
      const engine = await engineLater(world);
      layAdvisory(world, runIdOf(1));
      layEnded(world, runIdOf(2), 'exited', REAPED);
      layEnded(world, runIdOf(3), 'completed');
      await lateHook(engine, runIdOf(1));
      await lateHook({ ...engine, now: Date.now }, runIdOf(2));
      await lateHook(engine, runIdOf(3));
      expect(touchedIn(engine)).toEqual([]);
    }));

  it('writes all the same where word cannot be left, and the index is gone then', () =>
    inWorld(async (world) => {
      const engine = await engineLater(world);
      const run = layEnded(world, runIdOf(1), 'exited', REAPED);
      mkdirSync(engine.home.stateDir, { recursive: true });
      writeFileSync(join(engine.home.stateDir, 'touched'), 'no directory');
      writeFileSync(indexFileOf(engine.home.stateDir), 'an index');
      expect(await lateHook(engine, runIdOf(1))).toMatchObject({ kind: 'done', changed: true });
      expect(run.record().has('late_report')).toBe(true);
      expect(existsSync(indexFileOf(engine.home.stateDir))).toBe(false);
    }));

  it('is looked at by the supervisor, which takes the word away when the new row is in', () =>
    inWorld(async (world) => {
      const engine = await engineLater(world);
      layEnded(world, runIdOf(1), 'exited', REAPED);
      await lateHook(engine, runIdOf(1));
      const indexing = new IndexingByHand(engine);
      world.onDispose(() => indexing.close());
      await indexing.round({ stats: false, looks: 0 });
      expect(touchedIn(engine)).toEqual([runIdOf(1)]);
      await indexing.round({ stats: false, looks: null });
      expect(touchedIn(engine)).toEqual([]);
    }));
});
