import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { JsonNumber } from '../../../shared/json/value.ts';
import { type Locked, withRunLock } from '../../../shared/lock/run-lock.ts';
import { mutateRecord } from '../../../shared/record/mutate.ts';
import { inWorld } from '../../support/in-world.ts';
import { JsonNumber as Tree } from '../../support/json-tree.ts';
import { type LaidRun, layRun } from '../../support/lay-run.ts';
import { PYTHON } from '../../support/python.ts';
import { type PythonWriter, startPythonWriter } from '../../support/python-writer.ts';
import type { World } from '../../support/world.ts';

const NEVER = new AbortController().signal;
const RUN = '20260801T120001-aaaaaa';

async function withWriter(work: (world: World, python: PythonWriter) => Promise<void>): Promise<void> {
  await inWorld(async (world) => {
    const python = await startPythonWriter();
    world.onDispose(python.stop);
    await work(world, python);
  });
}

/** Adds one to a member under the lock, as any writer of ours does. */
async function increment(run: LaidRun, key: string, waitMs: number): Promise<void> {
  const mutation = await mutateRecord(run.dir, run.runId, { waitMs, signal: NEVER }, (record) => {
    const now = record.get(key);
    if (!(now instanceof JsonNumber)) throw new Error(`no number under ${key}`);
    return { verdict: null, set: new Map([[key, new JsonNumber(String(BigInt(now.text) + 1n))]]) };
  });
  if (mutation.kind !== 'done') throw new Error(JSON.stringify(mutation));
}

/** A directory whose fsync costs nothing, where there is one: 10,000 of them are not what is tested here. */
function inMemory(world: World): string {
  const directory = mkdtempSync(existsSync('/dev/shm') ? '/dev/shm/lion-world-' : join(world.root, 'jobs-'));
  world.onDispose(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** What a rewrite of a file would change of it. */
function tracesOf(file: string): Record<string, bigint> {
  const { ino, size, mode, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
  return { ino, size, mode, mtimeNs, ctimeNs };
}

/** What another program is answered that tries the lock once. */
function triedByPython(run: LaidRun): string {
  const program =
    'import fcntl, sys\nf = open(sys.argv[1], "r+")\ntry:\n fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB); print("taken")\nexcept BlockingIOError:\n print("busy")';
  return execFileSync(PYTHON, ['-c', program, join(run.dir, 'job.lock')], { encoding: 'utf8' }).trim();
}

function once<T>(dir: string, work: () => T): Promise<Locked<T>> {
  return withRunLock(dir, { waitMs: 0, signal: NEVER }, work);
}

describe('the lock of a run, beside Python', () => {
  it('loses none of 10,000 increments by each side of the same number', async () => {
    await withWriter(async (world, python) => {
      const run = layRun({ ...world, jobs: inMemory(world) }, RUN, { counter: new Tree('0') });
      let [oursWhilePython, pythonDone] = [0, false];
      const theirs = python
        .ask({ do: 'increment', run_dir: run.dir, key: 'counter', times: 10_000 })
        .finally(() => {
          pythonDone = true;
        });
      const loop = async (): Promise<void> => {
        for (let done = 0; done < 2_500; done += 1) {
          await increment(run, 'counter', 60_000);
          if (!pythonDone) oursWhilePython += 1;
        }
      };
      await Promise.all([theirs, loop(), loop(), loop(), loop()]);
      expect(run.record().get('counter')).toEqual(new Tree('20000'));
      expect(run.record().get('9007199254740993')).toEqual(new Tree('12345678901234567890123'));
      // Growing pauses leave us one turn or two while Python is busy; fixed ones some hundreds.
      expect(oursWhilePython).toBeGreaterThan(50);
    });
  });

  it('is free within a second of the kill -9 of its holder, to one that waits and to one that comes', async () => {
    await withWriter(async (world, python) => {
      const run = layRun(world, RUN);
      await python.ask({ do: 'hold', run_dirs: [run.dir] });
      expect(await once(run.dir, () => 'had')).toMatchObject({ kind: 'refused' });
      const waiting = withRunLock(run.dir, { waitMs: 30_000, signal: NEVER }, () => performance.now());
      await python.crash();
      const crashed = performance.now();
      const waited = await waiting;
      expect(waited).toMatchObject({ kind: 'held' });
      expect(waited.kind === 'held' ? waited.value - crashed : Number.NaN).toBeLessThan(1_000);
      expect(await once(run.dir, () => 'had')).toEqual({ kind: 'held', value: 'had' });
    });
  });

  it('keeps Python out while our work is under it, and lets it in after, though a child lives on', async () => {
    await withWriter(async (world) => {
      const run = layRun(world, RUN);
      const inherited = await once(run.dir, () => {
        const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
        return { during: triedByPython(run), child };
      });
      if (inherited.kind !== 'held') throw new Error('not held');
      expect(inherited.value.during).toBe('busy');
      expect(triedByPython(run)).toBe('taken');
      inherited.value.child.kill('SIGKILL');
    });
  });

  it('is let go when the work under it throws', async () => {
    await withWriter(async (world) => {
      const run = layRun(world, RUN);
      const work = (): never => {
        throw new Error('the work failed');
      };
      await expect(once(run.dir, work)).rejects.toThrow('the work failed');
      expect(triedByPython(run)).toBe('taken');
    });
  });

  it('that Python holds for longer than the wait is a refusal: bytes unchanged, and not absent', async () => {
    await withWriter(async (world, python) => {
      const run = layRun(world, RUN);
      const before = { text: run.text(), traces: tracesOf(run.recordFile) };
      await python.ask({ do: 'hold', run_dirs: [run.dir] });
      const began = performance.now();
      const refused = await mutateRecord(run.dir, RUN, { waitMs: 300, signal: NEVER }, () => {
        throw new Error('decided without the lock');
      });
      expect(performance.now() - began).toBeGreaterThanOrEqual(300);
      expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'lock_unavailable' } });
      expect(run.text()).toBe(before.text);
      expect(tracesOf(run.recordFile)).toEqual(before.traces);
      expect(readdirSync(run.dir).sort()).toEqual(['job.json', 'job.lock']);

      const missing = join(world.jobs, 'not-there');
      const absent = await mutateRecord(missing, 'not-there', { waitMs: 300, signal: NEVER }, () => ({
        verdict: null,
      }));
      expect(absent).toEqual({ kind: 'no_record', state: 'absent' });
      const reserved = join(world.jobs, 'reserved');
      mkdirSync(reserved);
      const without = await mutateRecord(reserved, 'reserved', { waitMs: 0, signal: NEVER }, () => ({
        verdict: null,
      }));
      expect(without).toEqual({ kind: 'no_record', state: 'absent' });
    });
  });

  it('is not waited for beyond the end of the call', async () => {
    await withWriter(async (world, python) => {
      const run = layRun(world, RUN);
      await python.ask({ do: 'hold', run_dirs: [run.dir] });
      const call = new AbortController();
      const waiting = withRunLock(run.dir, { waitMs: 60_000, signal: call.signal }, () => 'had');
      call.abort();
      expect(await waiting).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('interrupted'),
      });
    });
  });

  const OBSTACLES: [string, (lock: string) => void][] = [
    ['a directory', (lock) => mkdirSync(lock)],
    ['a link to itself', (lock) => symlinkSync('job.lock', lock)],
    ['a link into a directory that is not there', (lock) => symlinkSync('not-there/lock', lock)],
  ];
  it.each(OBSTACLES)('whose file cannot be made, being %s, is a refusal, not absent', async (_what, lay) => {
    await withWriter(async (world) => {
      const run = layRun(world, RUN);
      lay(join(run.dir, 'job.lock'));
      const before = run.text();
      const refused = await mutateRecord(run.dir, RUN, { waitMs: 0, signal: NEVER }, () => ({
        verdict: null,
        set: new Map([['touched', true]]),
      }));
      expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'lock_unavailable' } });
      expect(run.text()).toBe(before);
    });
  });

  it('of a run without a directory is absent, and makes none', async () => {
    await inWorld(async (world) => {
      const dir = join(world.jobs, RUN);
      expect(await once(dir, () => 'had')).toEqual({ kind: 'absent' });
      expect(existsSync(world.jobs)).toBe(false);
    });
  });

  it('is made 0600 and stays after use', async () => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      await once(run.dir, () => null);
      expect(statSync(join(run.dir, 'job.lock')).mode & 0o7777).toBe(0o600);
    });
  });

  it.skipIf(process.getuid?.() !== 0)(
    'gives no file elsewhere away that a link in its place leads to (needs root)',
    async () => {
      await inWorld(async (world) => {
        const run = layRun(world, RUN);
        const roots = join(world.root, 'an empty file of root');
        writeFileSync(roots, '', { mode: 0o600 });
        symlinkSync(roots, join(run.dir, 'job.lock'));
        chownSync(run.dir, 65_534, 65_534);
        await once(run.dir, () => null);
        expect(statSync(roots).uid).toBe(0);
      });
    },
  );

  it('of a directory that was taken away and made anew is had anew', async () => {
    await withWriter(async (world, python) => {
      const run = layRun(world, RUN);
      await python.ask({ do: 'hold', run_dirs: [run.dir] });
      const waiting = withRunLock(run.dir, { waitMs: 30_000, signal: NEVER }, () => triedByPython(run));
      rmSync(run.dir, { recursive: true });
      layRun(world, RUN);
      const had = await waiting;
      // Between the two it may have found no directory at all.
      expect([{ kind: 'held', value: 'busy' }, { kind: 'absent' }]).toContainEqual(had);
    });
  });

  it('case 31: held by Python in 8 runs holds up no other file work while all 8 are tried', async () => {
    await withWriter(async (world, python) => {
      const runs = Array.from({ length: 8 }, (_, index) => layRun(world, `20260801T12000${index}-aaaaaa`));
      await python.ask({ do: 'hold', run_dirs: runs.map((run) => run.dir) });
      const delay = monitorEventLoopDelay({ resolution: 10 });
      delay.enable();
      const tries = Promise.all(
        runs.map((run) => withRunLock(run.dir, { waitMs: 2_500, signal: NEVER }, () => 'had')),
      );
      let tried = false;
      void tries.finally(() => {
        tried = true;
      });
      const tookMs: number[] = [];
      while (!tried) {
        const began = performance.now();
        await stat(world.root);
        tookMs.push(performance.now() - began);
      }
      delay.disable();
      expect((await tries).map((one) => one.kind)).toEqual(runs.map(() => 'refused'));
      tookMs.sort((a, b) => a - b);
      expect(tookMs.length).toBeGreaterThan(100);
      expect(tookMs[Math.floor(tookMs.length * 0.99)]).toBeLessThan(200);
      expect(delay.percentile(99) / 1e6).toBeLessThan(200);

      await python.ask({ do: 'release' });
      const after = await Promise.all(runs.map((run) => once(run.dir, () => 'had')));
      expect(after.map((one) => one.kind)).toEqual(runs.map(() => 'held'));
    });
  });

  it('leaves no descriptor open, whatever came of a thousand tries', async () => {
    await withWriter(async (world, python) => {
      const [free, busy, bad] = ['a', 'b', 'c'].map((letter) => layRun(world, `run-${letter}`)) as [
        LaidRun,
        LaidRun,
        LaidRun,
      ];
      mkdirSync(join(bad.dir, 'job.lock'));
      await python.ask({ do: 'hold', run_dirs: [busy.dir] });
      const throwing = (): never => {
        throw new Error('thrown');
      };
      const tryAll = async (): Promise<void> => {
        await once(free.dir, () => null);
        await once(free.dir, throwing).catch(() => null);
        await once(busy.dir, () => null);
        await once(bad.dir, () => null);
        await increment(layRun(world, 'run-d', { n: new Tree('1') }), 'n', 0);
      };
      await tryAll();
      const before = readdirSync('/proc/self/fd').length;
      for (let round = 0; round < 200; round += 1) await tryAll();
      expect(descriptorsInto(world.root)).toEqual([]);
      expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before + 4);
    });
  });
});

function descriptorsInto(root: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(root) ? [target] : [];
    } catch {
      return []; // the descriptor the listing itself was read through
    }
  });
}
