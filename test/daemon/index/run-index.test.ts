import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunIndex } from '../../../daemon/index/open.ts';
import { IndexFault } from '../../../shared/index/fault.ts';
import { indexFileOf, PAGE_BYTES } from '../../../shared/index/schema.ts';
import { recordSignatureOf } from '../../../shared/store/signature.ts';
import { inWorld } from '../../support/in-world.ts';
import type { World } from '../../support/world.ts';
import { openIn, readRows } from './opened.ts';
import { observe, publish, rowOf, rowsOf, runIdAt, unchanged } from './rows.ts';

const stateDirOf = (world: World): string => join(world.work, 'liond');

describe('rows', () => {
  it('are there for a reader, column by column', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      const row = rowOf(runIdAt(1), { settled: false, terminal: false, outcome: null, tags: ['a "b"', 'ü'] });
      expect(index.put([row], unchanged)).toEqual([]);
      expect(readRows(stateDirOf(world), 'SELECT * FROM runs')).toEqual([
        {
          run_id: row.runId,
          ...{ signature: 'as read', settled: 0, record_state: 'ok', terminal: 0, status: 'completed' },
          ...{ outcome: null, kind: 'agent', label: 'nightly build', reason_code: null },
          ...{ submitted_ms: row.submittedMs },
          ...{ notify_state: 'delivered', retry_state: null, tags: '["a \\"b\\"","ü"]', row: row.row },
          sum: expect.stringMatching(/^[0-9a-f]{40}$/),
        },
      ]);
    }));

  it('are put all or none', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      const fails = (runId: string): string => {
        if (runId === runIdAt(7)) throw new Error('cannot be looked at');
        return 'as read';
      };
      expect(() => index.put(rowsOf(10), fails)).toThrow(IndexFault);
      expect(index.count()).toBe(0);
    }));

  it('are known a page at a time, in byte order, each once', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      const rows = rowsOf(25).concat(rowOf('\u{1F600}'), rowOf('\uFF5E'), rowOf('zz', { signature: null }));
      index.put(rows, (runId) => (runId === 'zz' ? null : 'as read'));
      const seen: string[] = [];
      for (let page = index.known(null, 10); page.length > 0; page = index.known(seen.at(-1) ?? null, 10)) {
        seen.push(...page.map((one) => one.runId));
      }
      expect(seen).toEqual([...rowsOf(25).map((row) => row.runId), 'zz', '\uFF5E', '\u{1F600}']);
      expect(index.known('z', 1)).toEqual([{ runId: 'zz', signature: null, settled: true }]);
    }));

  it('go with their usage when they are dropped', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      index.put(rowsOf(3), unchanged);
      const nothing = { cpuPercent: null, rssBytes: null, peakRssBytes: null };
      index.putUsage([0, 1].map((at) => ({ runId: runIdAt(at), sampledMs: 5, processes: 2, ...nothing })));
      index.drop([runIdAt(0), runIdAt(2), 'unknown']);
      for (const table of ['runs', 'usage']) {
        expect(readRows(stateDirOf(world), `SELECT run_id FROM ${table}`)).toEqual([{ run_id: runIdAt(1) }]);
      }
    }));

  it('remember the root they were reconciled with until it is taken back', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      expect(index.reconciledRoot()).toBeNull();
      index.setReconciledRoot('1.2.3');
      expect(index.reconciledRoot()).toBe('1.2.3');
      index.setReconciledRoot(null);
      expect(index.reconciledRoot()).toBeNull();
    }));
});

describe('case 71: a late update of the index from an old read', () => {
  it('is not written: a row never goes back from its end', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      const runIds = [0, 1, 2].map(runIdAt);
      const look = (runId: string) => recordSignatureOf(join(world.jobs, runId));
      for (const runId of runIds) publish(world.jobs, runId, { step: 0, terminal: false });
      const old = runIds.map((runId) => observe(world.jobs, runId));
      for (const runId of runIds) publish(world.jobs, runId, { step: 1, terminal: true });
      const settled = runIds.map((runId) => observe(world.jobs, runId));
      publish(world.jobs, runIds[0] ?? '', { step: 2, terminal: true });

      expect(index.put(settled, look)).toEqual([runIds[0]]);
      expect(index.put(old, look)).toEqual(runIds);
      expect(
        index.put(
          runIds.map((runId) => observe(world.jobs, runId)),
          look,
        ),
      ).toEqual([]);
      expect(index.put(settled, look)).toEqual([runIds[0]]);
      const rows = readRows<{ row: string }>(stateDirOf(world), 'SELECT row FROM runs ORDER BY run_id');
      expect(rows.map(({ row }) => JSON.parse(row))).toEqual([
        { step: 2, terminal: true },
        { step: 1, terminal: true },
        { step: 1, terminal: true },
      ]);
    }));

  it('of a record that is gone is not written either', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      publish(world.jobs, runIdAt(0), { step: 0, terminal: false });
      const row = observe(world.jobs, runIdAt(0));
      rmSync(join(world.jobs, runIdAt(0)), { recursive: true });
      expect(index.put([row], (runId) => recordSignatureOf(join(world.jobs, runId)))).toEqual([runIdAt(0)]);
      expect(index.count()).toBe(0);
    }));
});

describe('case 79: another file in place of the one that is open', () => {
  const changes: [string, (file: string) => void][] = [
    ['removed', (file) => rmSync(file)],
    ['moved away', (file) => renameSync(file, `${file}.elsewhere`)],
    ['replaced', (file) => replaceByCopy(file)],
    ['without its log', (file) => rmSync(`${file}-wal`)],
    ['without the contents of its log', (file) => rmSync(`${file}-shm`)],
  ];
  it.each(changes)('is noticed: %s', (_, change) =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      index.put(rowsOf(3), unchanged);
      expect(index.isReplaced()).toBe(false);
      change(indexFileOf(stateDirOf(world)));
      expect(index.isReplaced()).toBe(true);
    }),
  );

  it('is not mistaken for a reader who comes and goes', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      for (let times = 0; times < 3; times++) {
        index.put(rowsOf(3), unchanged);
        readRows(stateDirOf(world), 'SELECT count(*) FROM runs');
        index.checkpoint();
      }
      expect(index.isReplaced()).toBe(false);
    }));

  it('is left as it is, and takes nothing from the log of the old one', () =>
    inWorld(async (world) => {
      const stateDir = stateDirOf(world);
      const file = indexFileOf(stateDir);
      const other = join(world.work, 'other');
      const made = await openIn(world, other);
      made.index.put(rowsOf(5, { label: 'of the other' }), unchanged);
      made.index.close();
      const bytes = readFileSync(indexFileOf(other));

      const { index } = await openIn(world, stateDir);
      index.put(rowsOf(400, { label: 'of the old' }), unchanged);
      renameSync(indexFileOf(other), file);
      index.put(rowsOf(500, { label: 'of the old' }), unchanged);
      index.close();
      expect(readFileSync(file).equals(bytes)).toBe(true);
      const again = await openIn(world, stateDir);
      expect(again.opened.state).toBe('opened');
      const labels = readRows(stateDir, 'SELECT DISTINCT label, count(*) AS runs FROM runs');
      expect(labels).toEqual([{ label: 'of the other', runs: 5 }]);
    }));

  it('shares nothing with one who still holds the removed file', () =>
    inWorld(async (world) => {
      const stateDir = stateDirOf(world);
      const { index: old } = await openIn(world, stateDir);
      old.put(rowsOf(300, { label: 'of the old' }), unchanged);
      const sidecars = ['-wal', '-shm'].map((suffix) => `${indexFileOf(stateDir)}${suffix}`);
      const before = sidecars.map((path) => statSync(path).ino);
      rmSync(indexFileOf(stateDir));
      const { index } = await openIn(world, stateDir);
      expect(sidecars.map((path) => statSync(path).ino)).not.toContain(before[1]);
      index.put(rowsOf(20), unchanged);
      old.put(rowsOf(400, { label: 'of the old' }), unchanged);
      old.close();
      index.verify();
      expect(readRows(stateDir, "SELECT run_id FROM runs WHERE label = 'nightly build'")).toHaveLength(20);
      expect(index.isReplaced()).toBe(false);
    }));

  it('keeps its own log when the old one is closed', () =>
    inWorld(async (world) => {
      const stateDir = stateDirOf(world);
      const { index: old } = await openIn(world, stateDir);
      old.put(rowsOf(10), unchanged);
      mkdirSync(join(world.work, 'away'));
      for (const suffix of ['', '-wal', '-shm']) {
        renameSync(`${indexFileOf(stateDir)}${suffix}`, join(world.work, 'away', `file${suffix}`));
      }
      const { index } = await openIn(world, stateDir);
      index.put(rowsOf(20), unchanged);
      old.close();
      expect(index.isReplaced()).toBe(false);
      expect(readRows(stateDir, 'SELECT run_id FROM runs')).toHaveLength(20);
    }));
});

describe('the file', () => {
  it('has all of the log after a checkpoint, and the log is empty', () =>
    inWorld(async (world) => {
      const { index } = await openIn(world, stateDirOf(world));
      index.put(rowsOf(500), unchanged);
      const log = `${indexFileOf(stateDirOf(world))}-wal`;
      expect(statSync(log).size).toBeGreaterThan(0);
      index.checkpoint();
      expect(statSync(log).size).toBe(0);
    }));

  it('does not lead a walk through all rows back to where it has been', () =>
    inWorld(async (world) => {
      const stateDir = stateDirOf(world);
      const { index } = await openIn(world, stateDir);
      index.put(rowsOf(10), unchanged);
      index.close();
      const bytes = readFileSync(indexFileOf(stateDir), 'latin1');
      writeFileSync(indexFileOf(stateDir), bytes.replaceAll(runIdAt(7), runIdAt(2)), 'latin1');
      const damaged = await openIn(world, stateDir);
      expect(damaged.opened.state).toBe('opened');
      expect(() => damaged.index.known(null, 100)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    }));

  it('is not sound where an index lacks what its table has', () =>
    inWorld(async (world) => {
      const stateDir = stateDirOf(world);
      const { index } = await openIn(world, stateDir);
      index.put(rowsOf(10), unchanged);
      index.verify();
      index.close();
      const named = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'sqlite_autoindex_runs_1'";
      const [root] = readRows<{ page: number }>(stateDir, named);
      const bytes = readFileSync(indexFileOf(stateDir));
      // The number of cells in the first page of that index.
      bytes.writeUInt16BE(0, ((root?.page ?? 0) - 1) * PAGE_BYTES + 3);
      writeFileSync(indexFileOf(stateDir), bytes);
      const opened = await openRunIndex(stateDir);
      expect(opened).toMatchObject({ state: 'set_aside', why: 'corrupt' });
      if (opened.state === 'set_aside') opened.index.close();
    }));
});

function replaceByCopy(file: string): void {
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
}
