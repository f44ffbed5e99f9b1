import { describe, expect, it } from 'vitest';
import type { BlockShape } from '../../../daemon/index/blocks.ts';
import type { RunIndex } from '../../../daemon/index/run-index.ts';
import type { IndexRow } from '../../../shared/index/schema.ts';
import { inWorld } from '../../support/in-world.ts';
import { openIn, readRows, tamper } from './opened.ts';
import { rowOf, rowsOf, runIdAt, unchanged } from './rows.ts';

const SHAPE: BlockShape = { runs: 10, unsettled: 2 };

function inIndex(work: (index: RunIndex, stateDir: string) => void): Promise<void> {
  return inWorld(async (world) => {
    const stateDir = `${world.home}/state`;
    work((await openIn(world, stateDir)).index, stateDir);
  });
}

function packAll(index: RunIndex): number {
  let made = 0;
  while (index.pack(SHAPE)) made += 1;
  return made;
}

function verifyAll(index: RunIndex): number {
  let blocks = 0;
  for (let last = index.verifyBlock(''); last !== null; last = index.verifyBlock(last)) blocks += 1;
  return blocks;
}

/** From which run to which, by number. */
function blocksOf(stateDir: string): string[] {
  const rows = readRows<{ first: string; last: string }>(
    stateDir,
    'SELECT first, last FROM blocks ORDER BY last',
  );
  return rows.map(({ first, last }) => `${numberOf(first)}-${numberOf(last)}`);
}

function numberOf(runId: string): number {
  return Number.parseInt(runId.split('-')[1] ?? '', 16);
}

function rowAt(at: number, changes: Partial<IndexRow> = {}): IndexRow {
  return rowOf(runIdAt(at), changes);
}

describe('blocks of rows', () => {
  it('are full ones of the oldest; the newest rows wait', () =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(25), unchanged);
      expect(packAll(index)).toBe(2);
      expect(blocksOf(stateDir)).toEqual(['0-9', '10-19']);
    }));

  it('go when a row of theirs changes or goes, or one comes between, and are made anew', () =>
    inIndex((index, stateDir) => {
      index.put(
        rowsOf(40).filter((_, at) => at !== 25),
        unchanged,
      );
      packAll(index);
      expect(blocksOf(stateDir)).toEqual(['0-9', '10-19', '20-30']);
      index.put([rowAt(3, { label: 'other' })], unchanged);
      expect(blocksOf(stateDir)).toEqual(['10-19', '20-30']);
      index.drop([runIdAt(10)]);
      index.put([rowAt(25)], unchanged);
      expect(blocksOf(stateDir)).toEqual([]);
      packAll(index);
      expect(blocksOf(stateDir)).toEqual(['0-9', '11-20', '21-30']);
    }));

  it('stay where a row is put that says what it said', () =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(20), unchanged);
      packAll(index);
      index.put(rowsOf(20), unchanged);
      expect(blocksOf(stateDir)).toEqual(['0-9', '10-19']);
    }));

  it('close an older gap of any size', () =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(30), unchanged);
      packAll(index);
      index.drop([12, 13, 14, 15, 16].map(runIdAt));
      expect(blocksOf(stateDir)).toEqual(['0-9', '20-29']);
      packAll(index);
      expect(blocksOf(stateDir)).toEqual(['0-9', '10-19', '20-29']);
    }));

  it('leave out what is about to change, and are made behind it', () =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(30), unchanged);
      index.put(
        [11, 12, 13].map((at) => rowAt(at, { settled: false })),
        unchanged,
      );
      packAll(index);
      expect(blocksOf(stateDir)).toEqual(['0-9', '20-29']);
      index.put([rowAt(11)], unchanged);
      packAll(index);
      expect(blocksOf(stateDir)).toEqual(['0-9', '10-19', '20-29']);
    }));

  it('are all made anew where pruning has left many small ones', () =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(1_000), unchanged);
      packAll(index);
      const pruned = rowsOf(1_000).filter((_, at) => at % 10 !== 0);
      index.drop(pruned.map(({ runId }) => runId));
      packAll(index);
      expect(blocksOf(stateDir)).toHaveLength(10);
    }));

  it.each(['digest', 'facts'])('case 56: are not sound where a bit of their %s has changed', (column) =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(20), unchanged);
      packAll(index);
      expect(verifyAll(index)).toBe(2);
      tamper(stateDir, `UPDATE blocks SET ${column} = replace(${column}, 'completed', 'complfted')`);
      expect(() => verifyAll(index)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    }),
  );

  it('case 56: are not made of a row that is not as it was written', () =>
    inIndex((index, stateDir) => {
      index.put(rowsOf(10), unchanged);
      tamper(stateDir, `UPDATE runs SET kind = 'x' WHERE run_id = '${runIdAt(3)}'`);
      expect(() => index.pack(SHAPE)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    }));
});
