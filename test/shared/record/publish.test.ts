import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutateRecord } from '../../../shared/record/mutate.ts';
import { type PublishEffects, publishRecord } from '../../../shared/record/publish.ts';
import { inWorld } from '../../support/in-world.ts';
import { goneIdentity, type LaidRun, layRun, runAt } from '../../support/lay-run.ts';
import { runLion } from '../../support/lion.ts';
import { whyNoMountNamespace } from '../../support/privileges.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';

const RUN = '20260801T120001-aaaaaa';
const NEVER = new AbortController().signal;
const REAL: PublishEffects = { openSync, writeSync, fsyncSync, closeSync, renameSync };

/** The real calls, but the nth of one sort fails; a failing close closes first, as the system's does. */
function failingAt(call: keyof PublishEffects, nth: number): PublishEffects {
  let calls = 0;
  const fail = (name: keyof PublishEffects): void => {
    if (name === call && ++calls === nth) throw Object.assign(new Error('injected'), { code: 'EIO' });
  };
  return {
    openSync: (path, flags, mode) => {
      fail('openSync');
      return openSync(path, flags, mode);
    },
    writeSync: (fd, bytes, offset) => {
      fail('writeSync');
      return writeSync(fd, bytes, offset, Math.min(100, bytes.length - offset));
    },
    fsyncSync: (fd) => {
      fail('fsyncSync');
      fsyncSync(fd);
    },
    closeSync: (fd) => {
      closeSync(fd);
      fail('closeSync');
    },
    renameSync: (from, to) => {
      fail('renameSync');
      renameSync(from, to);
    },
  };
}

function setEnd(run: LaidRun, effects?: PublishEffects) {
  const options = { waitMs: 1_000, signal: NEVER, ...(effects === undefined ? {} : { effects }) };
  return mutateRecord(run.dir, run.runId, options, () => ({
    verdict: 'set',
    set: new Map([['finished_at', '2026-08-01T12:00:00.000000+00:00']]),
  }));
}

describe('the publication of a record', () => {
  const BEFORE_THE_RENAME: [string, keyof PublishEffects, number][] = [
    ['making the temporary file', 'openSync', 1],
    ['its first write', 'writeSync', 1],
    ['a later write', 'writeSync', 3],
    ['flushing it', 'fsyncSync', 1],
    ['closing it', 'closeSync', 1],
    ['the rename', 'renameSync', 1],
  ];
  it.each(BEFORE_THE_RENAME)(
    'that fails at %s leaves the old record and no temporary file',
    async (_step, call, nth) => {
      await inWorld(async (world) => {
        const run = layRun(world, RUN);
        const before = run.text();
        const refused = await setEnd(run, failingAt(call, nth));
        expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'publish_failed' } });
        expect(run.text()).toBe(before);
        expect(readdirSync(run.dir).sort()).toEqual(['job.json', 'job.lock']);
        expect(await setEnd(run)).toMatchObject({ kind: 'done', changed: true });
      });
    },
  );

  const AFTER_THE_RENAME: [string, keyof PublishEffects, number][] = [
    ['opening the directory', 'openSync', 2],
    ['flushing the directory', 'fsyncSync', 2],
    ['closing the directory', 'closeSync', 2],
  ];
  it.each(AFTER_THE_RENAME)(
    'that fails at %s is refused, with the whole new record and no temporary file',
    async (_step, call, nth) => {
      await inWorld(async (world) => {
        const run = layRun(world, RUN);
        const refused = await setEnd(run, failingAt(call, nth));
        expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'publish_failed' } });
        expect(run.record().get('finished_at')).toBe('2026-08-01T12:00:00.000000+00:00');
        expect(run.record().get('run_id')).toBe(RUN);
        expect(readdirSync(run.dir).sort()).toEqual(['job.json', 'job.lock']);
      });
    },
  );

  it('writes every byte, however few the system takes at a time', async () => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      const text = JSON.stringify({ run_id: RUN, long: '\u00e9'.repeat(5_000) });
      publishRecord(run.dir, text, statSync(run.recordFile), {
        ...REAL,
        writeSync: (fd, bytes, offset) => writeSync(fd, bytes, offset, Math.min(7, bytes.length - offset)),
      });
      expect(run.text()).toBe(text);
    });
  });

  it('uses a temporary name that no Python writer uses and no other publication has', async () => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      const names: string[] = [];
      const effects: PublishEffects = {
        ...REAL,
        renameSync: (from, to) => {
          names.push(from.slice(run.dir.length + 1));
          expect(readdirSync(run.dir)).toContain(names.at(-1));
          renameSync(from, to);
        },
      };
      for (let round = 0; round < 50; round += 1) publishRecord(run.dir, `{"n": ${round}}`, null, effects);
      expect(new Set(names).size).toBe(50);
      expect(names.filter((name) => /^\.job\.json\.\d+\.[0-9a-f]+\.tmp$/.test(name))).toEqual([]);
      expect(names.filter((name) => !name.startsWith('.job.json.'))).toEqual([]);
    });
  });

  it.each([0o600, 0o640, 0o644, 0o664, 0o444])('keeps the mode it finds: %o', async (mode) => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      rmSync(run.recordFile);
      writeFileSync(run.recordFile, JSON.stringify({ run_id: RUN }), { mode });
      expect(statSync(run.recordFile).mode & 0o7777).toBe(mode & ~process.umask());
      const had = statSync(run.recordFile).mode;
      expect(await setEnd(run)).toMatchObject({ kind: 'done', changed: true });
      expect(statSync(run.recordFile).mode).toBe(had);
    });
  });

  it('makes a new record 0600', async () => {
    await inWorld(async (world) => {
      const dir = join(world.root, 'new');
      mkdirSync(dir);
      publishRecord(dir, '{}', null);
      expect(statSync(join(dir, 'job.json')).mode & 0o7777).toBe(0o600);
    });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'by root leaves a user his record, and gives him the lock it made (needs root)',
    async () => {
      await inWorld(async (world) => {
        const run = layRun(world, RUN);
        for (const path of [run.dir, run.recordFile]) chownSync(path, 65_534, 65_533);
        expect(await setEnd(run)).toMatchObject({ kind: 'done', changed: true });
        for (const name of ['job.json', 'job.lock']) {
          const { uid, gid } = statSync(join(run.dir, name));
          expect({ name, uid, gid }).toEqual({ name, uid: 65_534, gid: 65_533 });
        }
      });
    },
  );
});

const whyNot = whyNoMountNamespace();
describe(`on a full disk${whyNot === null ? '' : ` (skipped: ${whyNot})`}`, () => {
  const DISK_BYTES = 128 * 1024;

  it.skipIf(whyNot !== null)('a write is refused, and the old bytes stay', async () => {
    await inWorld(async (world) => {
      const jobs = join(await mountSmallDisk(world, DISK_BYTES), 'jobs');
      const run = layRun({ ...world, jobs }, RUN);
      const before = run.text();
      fill(join(jobs, 'filler'));
      const refused = await setEnd(run);
      expect(refused).toMatchObject({
        kind: 'refused',
        refusal: { code: 'publish_failed', message: expect.stringContaining('ENOSPC') },
      });
      expect(run.text()).toBe(before);
      expect(readdirSync(run.dir).sort()).toEqual(['job.json', 'job.lock']);
      rmSync(join(jobs, 'filler'));
      expect(await setEnd(run)).toMatchObject({ kind: 'done', changed: true });
    });
  });

  it.skipIf(whyNot !== null)(
    'a gone run is answered as not ended, with the refusal, and nothing is announced',
    async () => {
      await inWorld(async (world) => {
        const home = await mountSmallDisk(world, DISK_BYTES);
        const log = join(world.root, 'notices');
        const jobs = join(home, 'mcp', 'jobs');
        layRun({ ...world, jobs }, RUN, {
          ...(await goneIdentity()),
          notify_command: JSON.stringify(['/bin/sh', '-c', `echo {run_id} >> ${log}`]),
        });
        const before = readFileSync(join(jobs, RUN, 'job.json'), 'utf8');
        fill(join(home, 'filler'));
        const env = { ...world.env, LIONAGI_HOME: home };
        const call = { env, cwd: world.cwd };
        const { envelope } = await runLion(['job', 'status', RUN, '--machine'], call);
        expect(envelope?.data).toMatchObject({
          terminal: false,
          outcome: null,
          refusal: { code: 'publish_failed' },
        });
        expect(runAt(join(jobs, RUN), RUN).text()).toBe(before);
        expect(existsSync(log)).toBe(false);
        rmSync(join(home, 'filler'));
        const after = await runLion(['job', 'status', RUN, '--machine'], call);
        expect(after.envelope?.data).toMatchObject({ terminal: true, refusal: null });
        expect(readFileSync(log, 'utf8')).toBe(`${RUN}\n`);
      });
    },
  );
});

/** Takes every byte that is left. */
function fill(file: string): void {
  const fd = openSync(file, 'w');
  const block = Buffer.alloc(4096, 'x');
  try {
    for (;;) writeSync(fd, block);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(fd);
  }
}
