import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_RECORD_BYTES, type RecordRead, readRecord } from '../../../shared/record/read.ts';
import { inWorld } from '../../support/in-world.ts';
import { type LaidRun, layRun } from '../../support/lay-run.ts';
import type { World } from '../../support/world.ts';

const RUN = '20260801T120001-aaaaaa';
const ANSWER_WITHIN_MS = 250;
const HANG_S = 60;

/** A read that blocks blocks this whole process, and no timer of it fires: another one ends it then. */
function watchdog(world: World): void {
  const script = `sleep ${HANG_S}; kill -9 ${process.pid}`;
  const dog = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
  world.onDispose(() => {
    if (dog.pid !== undefined) process.kill(-dog.pid, 'SIGKILL');
  });
}

interface How {
  /** The effective user to read as. */
  uid?: number;
  withinMs?: number;
}

async function readOf(
  lay: (run: LaidRun, world: World) => void | Promise<void>,
  { uid = process.geteuid?.() ?? 0, withinMs = ANSWER_WITHIN_MS }: How = {},
): Promise<RecordRead> {
  return inWorld(async (world) => {
    watchdog(world);
    const run = layRun(world, RUN);
    rmSync(run.recordFile);
    await lay(run, world);
    const us = process.geteuid?.() ?? 0;
    try {
      process.seteuid?.(uid);
      const began = performance.now();
      const read = readRecord(run.dir);
      expect(performance.now() - began).toBeLessThan(withinMs);
      return read;
    } finally {
      process.seteuid?.(us);
    }
  });
}

const sparse = (bytes: number) => (run: LaidRun) => {
  const fd = openSync(run.recordFile, 'w');
  ftruncateSync(fd, bytes);
  closeSync(fd);
};

const writing = (bytes: string | Buffer) => (run: LaidRun) => writeFileSync(run.recordFile, bytes);

function manyMembers(count: number): string {
  const members = Array.from({ length: count }, (_, index) => `"key ${index}": ${index}`);
  return `{"run_id": "${RUN}", ${members.join(', ')}}`;
}

describe('what is read where job.json should be', () => {
  const NOT_REGULAR = 'not a regular file';
  const UNREADABLE: [string, string, (run: LaidRun, world: World) => void | Promise<void>][] = [
    ['a FIFO that nobody writes to', NOT_REGULAR, (run) => void execFileSync('mkfifo', [run.recordFile])],
    [
      'a FIFO that somebody holds open to write',
      NOT_REGULAR,
      (run, world) => {
        execFileSync('mkfifo', [run.recordFile]);
        const fd = openSync(run.recordFile, 'r+');
        world.onDispose(() => closeSync(fd));
      },
    ],
    [
      'a link to a FIFO',
      NOT_REGULAR,
      (run, world) => {
        execFileSync('mkfifo', [join(world.root, 'fifo')]);
        symlinkSync(join(world.root, 'fifo'), run.recordFile);
      },
    ],
    ['a directory', NOT_REGULAR, (run) => mkdirSync(run.recordFile)],
    ['a link to a device that never ends', NOT_REGULAR, (run) => symlinkSync('/dev/zero', run.recordFile)],
    ['a link to a device that never answers', NOT_REGULAR, (run) => symlinkSync('/dev/ptmx', run.recordFile)],
    [
      'a socket',
      NOT_REGULAR,
      async (run, world) => {
        const server = createServer();
        await new Promise<void>((listening) => server.listen(run.recordFile, listening));
        world.onDispose(() => new Promise<void>((closed) => void server.close(() => closed())));
      },
    ],
    ['a sparse file of 1 GiB', 'larger than', sparse(1024 ** 3)],
    ['a byte more than the bound', 'larger than', sparse(MAX_RECORD_BYTES + 1)],
    ['a link to itself', 'ELOOP', (run) => symlinkSync('job.json', run.recordFile)],
    ['a link that leads nowhere', 'leads nowhere', (run) => symlinkSync('not-there', run.recordFile)],
    ['nothing at all in the file', 'not JSON', writing('')],
    ['half a record', 'not JSON', writing('{"run_id": "2026')],
    ['bytes that are no UTF-8', 'not UTF-8', writing(Buffer.from('7b2261223a2022ff227d', 'hex'))],
    ['a byte order mark', 'not JSON', writing('\ufeff{}')],
  ];
  it.each(UNREADABLE)('%s is unreadable, said at once', async (_what, why, lay) => {
    expect(await readOf(lay)).toEqual({ state: 'unreadable', why: expect.stringContaining(why) });
  });

  const LARGE: [string, (run: LaidRun) => void][] = [
    ['16 MiB of zero bytes', sparse(MAX_RECORD_BYTES)],
    ['16 MiB of brackets', writing('['.repeat(MAX_RECORD_BYTES))],
    ['16 MiB of quotes', writing('"'.repeat(MAX_RECORD_BYTES))],
    // Took 4 s: the search for NaN began anew at every quote of a string without an end.
    ['80 KB of escaped quotes without an end, after a NaN,', writing(`[NaN, "${'\\"'.repeat(40_000)}`)],
  ];
  it.each(LARGE)('%s are unreadable, said within 2 s', async (_what, lay) => {
    expect(await readOf(lay, { withinMs: 2_000 })).toEqual({
      state: 'unreadable',
      why: expect.stringContaining('not JSON'),
    });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'a record that this user may not read is unreadable (needs root to be another)',
    async () => {
      const lay = (run: LaidRun): void =>
        writeFileSync(run.recordFile, JSON.stringify({ run_id: RUN }), { mode: 0o600 });
      expect(await readOf(lay, { uid: 65_534 })).toEqual({ state: 'unreadable', why: 'EACCES' });
    },
  );

  it.each(['[]', '"text"', '1', 'null', 'NaN', ' [{"run_id": "x"}] '])(
    '%s is of the wrong shape',
    async (text) => {
      expect(await readOf(writing(text))).toEqual({ state: 'wrong_shape' });
    },
  );

  it('no file is absent, as is no directory', async () => {
    expect(await readOf(() => {})).toEqual({ state: 'absent' });
    expect(await readOf((run) => rmSync(run.dir, { recursive: true }))).toEqual({ state: 'absent' });
  });

  it('an object is a record, through a link too, and its bytes come with it', async () => {
    const text = ` {"run_id" :\t"${RUN}", "n": 1E5}\n`;
    const plain = await readOf(writing(text));
    const linked = await readOf((run, world) => {
      writeFileSync(join(world.root, 'elsewhere'), text);
      symlinkSync(join(world.root, 'elsewhere'), run.recordFile);
    });
    for (const read of [plain, linked]) expect(read).toMatchObject({ state: 'ok', object: { text } });
  });

  it.each([
    ['a string of 1 MB', JSON.stringify({ run_id: RUN, long: 'x'.repeat(1_000_000) })],
    [
      'a string of 15 MB that says NaN',
      JSON.stringify({ run_id: RUN, long: `NaN${'x'.repeat(15_000_000)}` }),
    ],
    ['200,000 members', manyMembers(200_000)],
  ])('a record with %s is read, as Python reads it', async (_what, text) => {
    const read = await readOf(writing(text), { withinMs: 20_000 });
    expect(read.state === 'ok' ? read.object.text.length : read).toBe(text.length);
  });

  it('one that shrinks to nothing between looks is still an answer', async () => {
    const read = await readOf((run) => {
      writeFileSync(run.recordFile, '{"run_id": "x"}');
      truncateSync(run.recordFile, 0);
    });
    expect(read.state).toBe('unreadable');
  });
});
