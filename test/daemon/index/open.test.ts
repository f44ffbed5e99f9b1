import { execFileSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRunIndex } from '../../../daemon/index/open.ts';
import type { RunIndex } from '../../../daemon/index/run-index.ts';
import { IndexFault } from '../../../shared/index/fault.ts';
import { indexFileOf } from '../../../shared/index/schema.ts';
import { bundleInto, MODULES } from '../../support/bundle.ts';
import { inWorld } from '../../support/in-world.ts';
import { asUser } from '../../support/namespaces.ts';
import type { World } from '../../support/world.ts';
import { openIn, readRows, tamper, whyUnavailable } from './opened.ts';
import { rowsOf, unchanged } from './rows.ts';

const ROWS = 300;
const SET_ASIDE = 'index.sqlite3.set-aside';
const ORDINARY_USER = 65534;

/** An index with rows in it, closed: one file, no sidecars. */
async function layIndex(world: World): Promise<{ stateDir: string; file: string }> {
  const stateDir = join(world.work, 'liond');
  const opened = await openRunIndex(stateDir);
  if (opened.state !== 'created') throw new Error(`not created: ${opened.state}`);
  opened.index.put(rowsOf(ROWS), unchanged);
  opened.index.close();
  return { stateDir, file: indexFileOf(stateDir) };
}

/** It takes rows and gives them to a reader, whatever was there before. */
async function expectSetAside(world: World, stateDir: string, why: string): Promise<void> {
  const { opened, index } = await openIn(world, stateDir);
  expect(opened).toMatchObject({ state: 'set_aside', why });
  expect(index.count()).toBe(0);
  expect(index.put(rowsOf(3), unchanged)).toEqual([]);
  expect(readRows(stateDir, 'SELECT run_id FROM runs')).toHaveLength(3);
}

describe('an index that is there', () => {
  it('is opened with its rows, again and again', () =>
    inWorld(async (world) => {
      const { stateDir } = await layIndex(world);
      for (let times = 0; times < 3; times++) {
        const opened = await openRunIndex(stateDir);
        expect(opened.state).toBe('opened');
        if (opened.state === 'opened') {
          expect(opened.index.count()).toBe(ROWS);
          opened.index.close();
        }
      }
      expect(existsSync(join(stateDir, SET_ASIDE))).toBe(false);
    }));

  it('is made where there is none, or an empty file', () =>
    inWorld(async (world) => {
      const stateDir = join(world.work, 'liond');
      mkdirSync(stateDir);
      writeFileSync(indexFileOf(stateDir), '');
      const { opened } = await openIn(world, stateDir);
      expect(opened.state).toBe('created');
    }));

  it('takes nothing from a log that was left when its database was removed', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const opened = await openRunIndex(stateDir);
      if (opened.state !== 'opened') throw new Error(opened.state);
      opened.index.put(rowsOf(ROWS, { label: 'in the log' }), unchanged);
      for (const suffix of ['-wal', '-shm']) copyFileSync(`${file}${suffix}`, join(world.work, suffix));
      opened.index.close();
      rmSync(file);
      for (const suffix of ['-wal', '-shm']) copyFileSync(join(world.work, suffix), `${file}${suffix}`);
      const again = await openIn(world, stateDir);
      expect(again.opened.state).toBe('created');
      expect(again.index.count()).toBe(0);
    }));

  it('is for its owner alone, sidecars too, with any umask and any mode it had', () =>
    inWorld(async (world) => {
      const umask = process.umask(0);
      try {
        const { stateDir, file } = await layIndex(world);
        expect(statSync(stateDir).mode & 0o777).toBe(0o700);
        chmodSync(file, 0o644);
        const { index } = await openIn(world, stateDir);
        index.put(rowsOf(1), unchanged);
        for (const suffix of ['', '-wal', '-shm']) {
          expect(statSync(`${file}${suffix}`).mode & 0o777).toBe(0o600);
        }
      } finally {
        process.umask(umask);
      }
    }));
});

describe('an index that cannot be used is set aside, and a fresh one made', () => {
  it('case 56: of a newer version', () =>
    inWorld(async (world) => {
      const { stateDir } = await layIndex(world);
      tamper(stateDir, 'PRAGMA user_version = 999');
      await expectSetAside(world, stateDir, 'other_version');
      const kept = readFileSync(join(stateDir, SET_ASIDE));
      expect(kept.readInt32BE(60)).toBe(999);
    }));

  it.each([
    ['with a table more', 'CREATE TABLE more (it)'],
    ['with a table less', 'DROP TABLE blocks'],
    ['with a column more', 'ALTER TABLE runs ADD COLUMN more TEXT'],
    ['without the number of its version', 'PRAGMA user_version = 0'],
  ])('%s', (_, sql) =>
    inWorld(async (world) => {
      const { stateDir } = await layIndex(world);
      tamper(stateDir, sql);
      await expectSetAside(world, stateDir, 'other_version');
    }),
  );

  it('case 56: a text file in its place', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const text = 'this is not a database\n'.repeat(1000);
      writeFileSync(file, text);
      await expectSetAside(world, stateDir, 'corrupt');
      expect(readFileSync(join(stateDir, SET_ASIDE), 'utf8')).toBe(text);
    }));

  it('case 56: bytes 4096 to 8192 random', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const bytes = readFileSync(file);
      randomBytes(4096).copy(bytes, 4096);
      writeFileSync(file, bytes);
      const { opened, index } = await openIn(world, stateDir);
      expect(opened.state).toBe('set_aside');
      expect(readFileSync(join(stateDir, SET_ASIDE)).equals(bytes)).toBe(true);
      index.put(rowsOf(3), unchanged);
      expect(index.count()).toBe(3);
    }));

  it.each(['a directory', 'a pipe', 'a link', 'a pipe for its log'])('%s in its place', (what) =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const elsewhere = join(world.work, 'elsewhere');
      copyFileSync(file, elsewhere);
      const before = readFileSync(elsewhere);
      if (what !== 'a pipe for its log') rmSync(file);
      if (what === 'a directory') mkdirSync(join(file, 'with', 'content'), { recursive: true });
      else if (what === 'a link') symlinkSync(elsewhere, file);
      else execFileSync('mkfifo', [what === 'a pipe' ? file : `${file}-wal`]);
      await expectSetAside(world, stateDir, 'not_a_file');
      expect(lstatSync(join(stateDir, SET_ASIDE)).isDirectory()).toBe(what === 'a directory');
      expect(readFileSync(elsewhere).equals(before)).toBe(true);
    }),
  );

  it('of those set aside the newest is kept', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      rmSync(file);
      mkdirSync(join(file, 'first'), { recursive: true });
      (await openIn(world, stateDir)).index.close();
      for (const text of ['second', 'third']) {
        writeFileSync(file, text);
        (await openIn(world, stateDir)).index.close();
      }
      expect(readFileSync(join(stateDir, SET_ASIDE), 'utf8')).toBe('third');
    }));
});

describe('a damaged file costs its rows and nothing else', () => {
  it('cut off at any length', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const whole = readFileSync(file);
      const pages = Array.from({ length: whole.length / 8192 }, (_, page) => page * 8192);
      const lengths = [1, 15, 16, 99, 100, 512, 4096, 8191, ...pages, ...pages.map((at) => at + 4096)];
      for (const length of lengths) {
        writeFileSync(file, whole);
        truncateSync(file, length);
        const opened = await openRunIndex(stateDir);
        if (opened.state === 'unavailable') throw new Error(`${length}: ${opened.why} ${opened.detail}`);
        expect([length, opened.state]).toEqual([length, length === 0 ? 'created' : 'set_aside']);
        expect([length, opened.index.count()]).toEqual([length, 0]);
        expect(opened.index.put(rowsOf(3), unchanged)).toEqual([]);
        opened.index.close();
      }
    }));

  it('with a bit of its header turned: it is set aside, or says corrupt, or has all its rows', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const whole = readFileSync(file);
      for (let at = 0; at < 100; at++) {
        const bytes = Buffer.from(whole);
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << randomInt(8)), at);
        writeFileSync(file, bytes);
        const opened = await openRunIndex(stateDir);
        if (opened.state === 'unavailable') throw new Error(`${at}: ${opened.why} ${opened.detail}`);
        expect([at, opened.index.count()]).toEqual([at, opened.state === 'opened' ? ROWS : 0]);
        useAll(opened.index);
        opened.index.close();
      }
    }));

  it('with bits turned anywhere: it is set aside, or says corrupt, or is usable', () =>
    inWorld(async (world) => {
      const { stateDir, file } = await layIndex(world);
      const whole = readFileSync(file);
      const seen = { set_aside: 0, corrupt: 0, usable: 0 };
      for (let round = 0; round < 150; round++) {
        writeFileSync(file, withBitsTurned(whole, 1 + (round % 3) * 20));
        const opened = await openRunIndex(stateDir);
        if (opened.state === 'unavailable') throw new Error(`${opened.why} ${opened.detail}`);
        if (opened.state === 'set_aside') seen.set_aside += 1;
        else seen[useAll(opened.index)] += 1;
        opened.index.close();
      }
      expect(seen.set_aside).toBeGreaterThan(0);
      expect(seen.usable).toBeGreaterThan(0);
    }));
});

function withBitsTurned(whole: Buffer, count: number): Buffer {
  const bytes = Buffer.from(whole);
  for (let flips = 0; flips < count; flips++) {
    const at = randomInt(whole.length);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << randomInt(8)), at);
  }
  return bytes;
}

function useAll(index: RunIndex): 'usable' | 'corrupt' {
  try {
    for (let page = index.known(null, 50); page.length > 0; ) {
      page = index.known(page.at(-1)?.runId ?? null, 50);
    }
    index.put(rowsOf(ROWS), unchanged);
    index.checkpoint();
    return 'usable';
  } catch (error) {
    if (!(error instanceof IndexFault)) throw error;
    expect(error.code).toBe('corrupt');
    return 'corrupt';
  }
}

describe('where there can be no index', () => {
  it('a file system that is not known to be local', async () => {
    expect(await whyUnavailable('/proc/self')).toBe('not_local');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'a directory that may not be written, with an index in it or without',
    () =>
      inWorld(async (world) => {
        const { stateDir } = await layIndex(world);
        const empty = join(world.work, 'empty');
        mkdirSync(empty);
        for (const directory of [stateDir, empty]) chmodSync(directory, 0o555);
        chmodSync(indexFileOf(stateDir), 0o444);
        const program = await bundleInto(world.work, new URL('./open-program.ts', import.meta.url));
        for (const directory of [stateDir, empty]) {
          expect(opens(program, directory, asUser(ORDINARY_USER))).toBe('readonly');
        }
        expect(existsSync(join(stateDir, SET_ASIDE))).toBe(false);
      }),
  );

  it('a library that is not installed', () =>
    inWorld(async (world) => {
      mkdirSync(join(world.work, 'node_modules'));
      const program = await bundleInto(world.work, new URL('./open-program.ts', import.meta.url));
      expect(opens(program, join(world.work, 'liond'))).toBe('no_library');
    }));

  it.each(['missing', 'not for this machine'])('a native part that is %s', (what) =>
    inWorld(async (world) => {
      const modules = join(world.work, 'node_modules');
      const library = join(modules, 'better-sqlite3');
      mkdirSync(join(library, 'build', 'Release'), { recursive: true });
      for (const part of ['lib', 'package.json']) {
        cpSync(join(MODULES, 'better-sqlite3', part), join(library, part), { recursive: true });
      }
      for (const name of ['bindings', 'file-uri-to-path'])
        symlinkSync(join(MODULES, name), join(modules, name));
      if (what !== 'missing') {
        writeFileSync(join(library, 'build', 'Release', 'better_sqlite3.node'), 'not an object file');
      }
      const program = await bundleInto(world.work, new URL('./open-program.ts', import.meta.url));
      expect(opens(program, join(world.work, 'liond'))).toBe('no_library');
    }),
  );
});

function opens(program: string, stateDir: string, through: readonly string[] = []): string {
  const [command, ...args] = [...through, process.execPath, program, stateDir];
  return execFileSync(command ?? '', args, { encoding: 'utf8' }).trim();
}
