import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { IndexKeeper, type RebuildReason } from '../../../daemon/index/index-keeper.ts';
import { type IndexRow, indexFileOf } from '../../../shared/index/schema.ts';
import { recordSignatureOf } from '../../../shared/store/signature.ts';
import { bundleInto } from '../../support/bundle.ts';
import { inWorld } from '../../support/in-world.ts';
import { inMounts } from '../../support/namespaces.ts';
import { whyNoMountNamespace } from '../../support/privileges.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { World } from '../../support/world.ts';
import { readRows } from './opened.ts';
import { observe, publish, rowOf, rowsOf, runIdAt } from './rows.ts';
import type { SeenOnSmallDisk } from './small-disk-program.ts';

interface Kept {
  readonly keeper: IndexKeeper;
  readonly stateDir: string;
  /** What the owner was asked for. */
  readonly rebuilds: RebuildReason[];
  readonly changed: string[];
}

function keep(world: World, stateDir = join(world.work, 'liond'), signatureOf = () => 'as read'): Kept {
  const rebuilds: RebuildReason[] = [];
  const changed: string[] = [];
  const keeper = new IndexKeeper(stateDir, {
    signatureOf,
    onRebuildNeeded: (why) => rebuilds.push(why),
    onChangedSince: (runIds) => changed.push(...runIds),
  });
  world.onDispose(() => keeper.close());
  return { keeper, stateDir, rebuilds, changed };
}

/** With an index that is open, reconciled and at peace. */
async function keepSound(
  world: World,
  rows: readonly IndexRow[] = rowsOf(20),
  stateDir?: string,
): Promise<Kept> {
  const kept = keep(world, stateDir);
  await kept.keeper.check();
  expect(kept.rebuilds.splice(0)).toEqual(['created']);
  putAll(kept, rows);
  expect(kept.keeper.setReconciledRoot('first', kept.keeper.generation, 1)).toBe(true);
  return kept;
}

function putAll({ keeper }: Kept, rows: readonly IndexRow[]): void {
  for (const row of rows) keeper.put(row);
}

const runsIn = (stateDir: string): string[] =>
  readRows<{ run_id: string }>(stateDir, 'SELECT run_id FROM runs').map((row) => row.run_id);

const rootIn = (stateDir: string): unknown[] => readRows(stateDir, 'SELECT value FROM meta');

/** As the supervisor calls it, only sooner, until there is nothing wrong any more. */
async function checkUntilSound({ keeper }: Kept): Promise<void> {
  await waitUntil('the index to be sound', async () => {
    await keeper.check();
    return keeper.trouble === null;
  });
}

describe('rows that are put', () => {
  it('go in together, a moment after the first', () =>
    inWorld(async (world) => {
      const kept = await keepSound(world, []);
      putAll(kept, rowsOf(20));
      expect(runsIn(kept.stateDir)).toEqual([]);
      await waitUntil('them to be written', () => runsIn(kept.stateDir).length === 20);
    }));

  it('go in at once when many wait, and on demand', () =>
    inWorld(async (world) => {
      const kept = await keepSound(world, []);
      putAll(kept, rowsOf(201));
      expect(runsIn(kept.stateDir)).toHaveLength(200);
      kept.keeper.flush();
      expect(runsIn(kept.stateDir)).toHaveLength(201);
    }));

  it('wait for the index to be opened, and are written before it is closed', () =>
    inWorld(async (world) => {
      const kept = keep(world);
      putAll(kept, rowsOf(3));
      await kept.keeper.check();
      expect(runsIn(kept.stateDir)).toHaveLength(3);
      putAll(kept, rowsOf(5));
      await kept.keeper.close();
      expect(readdirSync(kept.stateDir)).toEqual(['index.sqlite3']);
      expect(runsIn(kept.stateDir)).toHaveLength(5);
    }));

  it('count in the order they were put, and not after their run was dropped', () =>
    inWorld(async (world) => {
      const kept = await keepSound(world, []);
      putAll(kept, [rowOf('a', { label: 'one' }), rowOf('b'), rowOf('a', { label: 'two' })]);
      kept.keeper.drop(['b']);
      kept.keeper.flush();
      expect(readRows(kept.stateDir, 'SELECT run_id, label FROM runs')).toEqual([
        { run_id: 'a', label: 'two' },
      ]);
    }));

  it('case 71: are handed back when their record has changed, and no root counts until they are put', () =>
    inWorld(async (world) => {
      const rebuilds: RebuildReason[] = [];
      const changed: string[] = [];
      const keeper = new IndexKeeper(join(world.work, 'liond'), {
        signatureOf: (runId) => recordSignatureOf(join(world.jobs, runId)),
        onRebuildNeeded: (why) => rebuilds.push(why),
        onChangedSince: (runIds) => changed.push(...runIds),
      });
      world.onDispose(() => keeper.close());
      await keeper.check();
      const [one, other] = [runIdAt(0), runIdAt(1)];
      for (const runId of [one, other]) publish(world.jobs, runId, { step: 0, terminal: false });
      for (const runId of [one, other]) keeper.put(observe(world.jobs, runId));
      publish(world.jobs, one, { step: 1, terminal: true });
      expect(keeper.setReconciledRoot('early', keeper.generation, 1)).toBe(false);
      expect(changed).toEqual([one]);
      keeper.put(observe(world.jobs, one));
      expect(keeper.setReconciledRoot('in time', keeper.generation, 1)).toBe(true);
      expect(rebuilds).toEqual(['created']);
    }));
});

describe('case 79: an index taken away from under the supervisor', () => {
  it.each([
    ['removed', (file: string) => rmSync(file)],
    [
      'moved away with its log',
      (file: string) => {
        for (const suffix of ['', '-wal', '-shm']) renameSync(`${file}${suffix}`, `${file}${suffix}.away`);
      },
    ],
    [
      'replaced by an older copy',
      (file: string) => {
        copyFileSync(file, `${file}.copy`);
        renameSync(`${file}.copy`, file);
      },
    ],
  ])('is let go of at the next look, and all is asked for again: %s', (_, change) =>
    inWorld(async (world) => {
      const kept = await keepSound(world);
      change(indexFileOf(kept.stateDir));
      putAll(kept, rowsOf(30));
      kept.keeper.flush();
      expect(
        filesHeldIn(kept.stateDir).some((file) => file !== 'index.sqlite3' && !/-(wal|shm)$/.test(file)),
      ).toBe(true);
      await kept.keeper.check();
      expect(kept.rebuilds).toEqual(['replaced']);
      expect(filesHeldIn(kept.stateDir)).toEqual(['index.sqlite3', 'index.sqlite3-shm', 'index.sqlite3-wal']);
      expect(rootIn(kept.stateDir)).toEqual([]);
      putAll(kept, rowsOf(40));
      expect(kept.keeper.setReconciledRoot('again', kept.keeper.generation, 1)).toBe(true);
      expect(runsIn(kept.stateDir)).toEqual(rowsOf(40).map((row) => row.runId));
      expect(kept.keeper.trouble).toBeNull();
    }),
  );
});

describe('trouble', () => {
  it('case 56: damage found while it is open costs a rebuild, and the damaged file is kept', () =>
    inWorld(async (world) => {
      const kept = await keepSound(world, rowsOf(2000));
      kept.keeper.checkpoint();
      const bytes = readFileSync(indexFileOf(kept.stateDir));
      randomBytes(bytes.length - 4096).copy(bytes, 4096);
      writeFileSync(indexFileOf(kept.stateDir), bytes);
      kept.keeper.verify();
      expect(kept.keeper.trouble?.code).toBe('index_corrupt');
      expect(kept.keeper.known(null, 1)).toBeNull();
      await checkUntilSound(kept);
      expect(kept.rebuilds).toEqual(['set_aside']);
      expect(readdirSync(kept.stateDir)).toContain('index.sqlite3.set-aside');
      expect(runsIn(kept.stateDir)).toEqual([]);
      putAll(kept, rowsOf(5));
      expect(kept.keeper.setReconciledRoot('again', kept.keeper.generation, 1)).toBe(true);
    }));

  it('another process that holds the index costs no row, and is not waited for again and again', () =>
    inWorld(async (world) => {
      const kept = await keepSound(world, []);
      const other = new Database(indexFileOf(kept.stateDir));
      world.onDispose(() => void other.close());
      other.exec('BEGIN IMMEDIATE');
      putAll(kept, rowsOf(200));
      expect(kept.keeper.trouble?.code).toBe('index_busy');
      const began = performance.now();
      putAll(kept, rowsOf(400));
      expect(performance.now() - began).toBeLessThan(200);
      await kept.keeper.check();
      expect(kept.keeper.trouble?.code).toBe('index_busy');
      other.exec('COMMIT');
      await checkUntilSound(kept);
      expect(runsIn(kept.stateDir)).toHaveLength(400);
      expect(kept.rebuilds).toEqual([]);
    }));

  it('a drop that could not be made is made up for by a rebuild', () =>
    inWorld(async (world) => {
      const kept = await keepSound(world);
      const other = new Database(indexFileOf(kept.stateDir));
      world.onDispose(() => void other.close());
      other.exec('BEGIN IMMEDIATE');
      kept.keeper.drop([runIdAt(0)]);
      other.exec('COMMIT');
      await checkUntilSound(kept);
      expect(kept.rebuilds).toEqual(['rows_lost']);
      expect(rootIn(kept.stateDir)).toEqual([]);
    }));

  const whyNoDisk = whyNoMountNamespace();
  const needs = whyNoDisk === null ? '' : ` (${whyNoDisk})`;
  it.skipIf(whyNoDisk !== null)(`a full disk ends with the space, and is then made up for${needs}`, () =>
    inWorld(async (world) => {
      const seen = await onSmallDisk(world);
      expect(seen.whenFull).toBe('index_full');
      expect(seen.rebuilds.slice(0, 2)).toEqual(['created', 'rows_lost']);
      // A look that began before the loss does not make the index complete.
      expect(seen.isEarlierLookTaken).toBe(false);
      expect(seen.isNextLookTaken).toBe(true);
      expect(seen.runs).toBe(100);
      expect(seen.whenFullFromStart).toBe('index_full');
      expect(seen.afterThat).toEqual(['created']);
    }),
  );

  it('no index at all: every call is taken, none throws, and cause and cure are said', () =>
    inWorld(async (world) => {
      const kept = keep(world, '/proc/self');
      await kept.keeper.check();
      putAll(kept, rowsOf(300));
      kept.keeper.drop([runIdAt(1)]);
      kept.keeper.putUsage([]);
      kept.keeper.checkpoint();
      kept.keeper.verify();
      expect(kept.keeper.known(null, 10)).toBeNull();
      expect(kept.keeper.setReconciledRoot('root', kept.keeper.generation, 1)).toBe(false);
      expect(kept.keeper.trouble).toMatchObject({ code: 'index_unavailable' });
      expect(kept.keeper.trouble?.cure).toMatch(/\w+/);
      expect(kept.rebuilds).toEqual([]);
    }));

  it('takes no look for complete whose rows came while there was trouble', () =>
    inWorld(async (world) => {
      const parent = join(world.work, 'parent');
      writeFileSync(parent, 'where a directory should be');
      const kept = keep(world, join(parent, 'liond'));
      await kept.keeper.check();
      kept.keeper.put(rowOf('first lost'));
      const began = kept.keeper.generation;
      kept.keeper.put(rowOf('lost'));
      rmSync(parent);
      await checkUntilSound(kept);
      expect(kept.keeper.setReconciledRoot('early', began, 1)).toBe(false);
      expect(kept.keeper.setReconciledRoot('after all', kept.keeper.generation, 1)).toBe(true);
    }));

  it('is looked into at the next check, and then less and less often', () =>
    inWorld(async (world) => {
      const needed: number[] = [];
      for (const failures of [1, 2, 3, 4, 5]) {
        const parent = join(world.work, `parent${failures}`);
        writeFileSync(parent, 'where a directory should be');
        const kept = keep(world, join(parent, 'liond'));
        for (let checks = 0; checks < 2 ** (failures - 1); checks++) await kept.keeper.check();
        rmSync(parent);
        let checks = 0;
        for (; kept.keeper.trouble !== null; checks++) await kept.keeper.check();
        needed.push(checks);
      }
      expect(needed).toEqual([1, 2, 4, 8, 16]);
    }));
});

/** SQLite follows every link of a path, so only a process that has the disk mounted can have an index on it. */
async function onSmallDisk(world: World): Promise<SeenOnSmallDisk> {
  const program = await bundleInto(world.work, new URL('./small-disk-program.ts', import.meta.url));
  const disk = join(world.root, 'disk');
  mkdirSync(disk);
  const mounted = inMounts('mount -t tmpfs -o size=1m tmpfs "$1"', [disk]);
  const [command, ...args] = [...mounted, process.execPath, program, disk];
  return JSON.parse(execFileSync(command ?? '', args, { encoding: 'utf8' }));
}

/** Names, in the state directory, of the files this process holds open there; ` (deleted)` stands behind those that have none. */
function filesHeldIn(stateDir: string): string[] {
  const held = readdirSync('/proc/self/fd').flatMap((fd) => {
    const path = linkOf(fd);
    return path.startsWith(`${stateDir}/`) ? [path.slice(stateDir.length + 1)] : [];
  });
  return [...new Set(held)].sort();
}

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
