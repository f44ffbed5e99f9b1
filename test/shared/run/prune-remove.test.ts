import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEngine } from '../../../shared/engine.ts';
import { withRunLock } from '../../../shared/lock/run-lock.ts';
import { lookAtRun } from '../../../shared/run/prune/look.ts';
import { type Removal, removeRun } from '../../../shared/run/prune/remove.ts';
import { inWorld } from '../../support/in-world.ts';
import type { LaidRun } from '../../support/lay-run.ts';
import { newRunIds } from '../../support/new-run-id.ts';
import { startPythonWriter } from '../../support/python-writer.ts';
import { layEnded, replaceRecord } from '../../support/runs-of-all-sorts.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { World } from '../../support/world.ts';

const { signal } = new AbortController();
const runIdOf = newRunIds();

async function seenNow(world: World, runId: string) {
  const { engine } = await openEngine(world.env, world.cwd, signal);
  return lookAtRun(engine, engine.processes, runId).seen;
}

async function remove(world: World, run: LaidRun, waitMs = 0): Promise<Removal> {
  return removeRun(run.dir, await seenNow(world, run.runId), { waitMs, signal });
}

/** A run with a log, artifacts, a lock file and what an interrupted write has left. */
function layFull(world: World): LaidRun {
  const run = layEnded(world, runIdOf(1), 'completed');
  mkdirSync(join(run.dir, 'artifacts', 'deep'), { recursive: true });
  for (const name of ['console.log', 'job.lock', '.job.json.lion-17-abcdef.tmp', 'artifacts/deep/a'])
    writeFileSync(join(run.dir, name), 'text');
  return run;
}

describe('removing a run', () => {
  it('takes all of it, also what an interrupted write has left', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      expect(await remove(world, run)).toEqual({ kind: 'removed' });
      expect(readdirSync(world.jobs)).toEqual([]);
    });
  });

  it('follows no link out of it', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      mkdirSync(join(world.work, 'mine'));
      writeFileSync(join(world.work, 'mine', 'precious'), 'text');
      symlinkSync(join(world.work, 'mine'), join(run.dir, 'artifacts', 'directory'));
      symlinkSync(join(world.work, 'mine', 'precious'), join(run.dir, 'artifacts', 'file'));
      symlinkSync('nowhere', join(run.dir, 'dangling'));
      expect(await remove(world, run)).toEqual({ kind: 'removed' });
      expect(existsSync(run.dir)).toBe(false);
      expect(readFileSync(join(world.work, 'mine', 'precious'), 'utf8')).toBe('text');
    });
  });

  it.skipIf(process.platform !== 'linux')('takes names that are no UTF-8', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      const directory = Buffer.concat([Buffer.from(`${run.dir}/`), Buffer.from([0xe9, 0xff])]);
      mkdirSync(directory);
      writeFileSync(Buffer.concat([directory, Buffer.from([0x2f, 0xe8])]), 'text');
      expect(await remove(world, run)).toEqual({ kind: 'removed' });
      expect(readdirSync(world.jobs)).toEqual([]);
    });
  });

  it('takes only the link where the run is one, and one that leads nowhere too', async () => {
    await inWorld(async (world) => {
      const elsewhere = layFull({ ...world, jobs: world.work });
      mkdirSync(world.jobs, { recursive: true });
      const dir = join(world.jobs, elsewhere.runId);
      symlinkSync(elsewhere.dir, dir);
      expect(await remove(world, { ...elsewhere, dir })).toEqual({ kind: 'removed' });
      expect(readdirSync(world.jobs)).toEqual([]);
      expect(readdirSync(elsewhere.dir)).toEqual(expect.arrayContaining(['job.json', 'console.log']));
      symlinkSync(join(world.work, 'nowhere'), dir);
      expect(await remove(world, { ...elsewhere, dir })).toEqual({ kind: 'removed' });
      expect(readdirSync(world.jobs)).toEqual([]);
    });
  });

  it('leaves a run alone whose record is another by now, the same length and the same times or not', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      const seen = await seenNow(world, run.runId);
      replaceRecord(run, { label: 'another' });
      expect(await removeRun(run.dir, seen, { waitMs: 0, signal })).toEqual({ kind: 'changed' });
      const young = await seenNow(world, run.runId);
      // A signature cannot tell two writes within the grain of its clock; the text can.
      expect(await removeRun(run.dir, { ...young, text: `${young.text} ` }, { waitMs: 0, signal })).toEqual({
        kind: 'changed',
      });
      unlinkSync(run.recordFile);
      expect(await removeRun(run.dir, young, { waitMs: 0, signal })).toEqual({ kind: 'changed' });
      expect(readdirSync(run.dir)).toHaveLength(4);
      rmSync(run.dir, { recursive: true });
      expect(await removeRun(run.dir, young, { waitMs: 0, signal })).toEqual({ kind: 'changed' });
    });
  });

  it('says what is in the way, and what it could not take is found by the next one', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      rmSync(join(run.dir, 'job.lock'));
      mkdirSync(join(run.dir, 'job.lock'));
      expect(await remove(world, run)).toEqual({ kind: 'failed', why: 'lock_unavailable' });
      expect(existsSync(join(run.dir, 'console.log'))).toBe(true);
      rmSync(join(run.dir, 'job.lock'), { recursive: true });
      expect(await remove(world, run)).toEqual({ kind: 'removed' });
    });
  });

  it('stops between entries when interrupted: the record is still there, and the next one takes the rest', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      for (let n = 0; n < 20_000; n++) writeFileSync(join(run.dir, 'artifacts', `${n}`), '');
      const interrupt = new AbortController();
      const seen = await seenNow(world, run.runId);
      const removal = removeRun(run.dir, seen, { waitMs: 0, signal: interrupt.signal });
      setImmediate(() => interrupt.abort());
      expect(await removal).toEqual({ kind: 'interrupted' });
      const left = readdirSync(join(run.dir, 'artifacts')).length;
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThan(20_001);
      expect(run.record().get('status')).toBe('completed');
      expect(await remove(world, run)).toEqual({ kind: 'removed' });
      expect(existsSync(run.dir)).toBe(false);
    });
  });

  it('lets the loop turn and the lock go while it works on a directory that takes longer to list than a slice has', async () => {
    await inWorld(async (world) => {
      const run = layFull(world);
      for (let n = 0; n < 60_000; n++) writeFileSync(join(run.dir, 'artifacts', `${n}`), '');
      const removal = remove(world, run, 1_000);
      let taken = 0;
      await waitUntil('the run to be gone', async () => {
        const locked = await withRunLock(run.dir, { waitMs: 0, signal }, () => undefined);
        taken += locked.kind === 'held' ? 1 : 0;
        return !existsSync(run.dir);
      });
      expect(await removal).toEqual({ kind: 'removed' });
      expect(taken).toBeGreaterThan(2);
    });
  });
});

describe('a Python writer and the removing of its run', () => {
  it('while it holds the lock the run stays; once it lets go the run is removed', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      const run = layFull(world);
      await writer.ask({ do: 'hold', run_dirs: [run.dir] });
      expect(await remove(world, run, 50)).toEqual({ kind: 'failed', why: 'lock_unavailable' });
      expect(readdirSync(run.dir)).toHaveLength(5);
      const removal = remove(world, run, 10_000);
      await writer.ask({ do: 'release', delay_s: 0.1 });
      expect(await removal).toEqual({ kind: 'removed' });
    });
  });

  it('what it wrote while the lock was waited for keeps the run', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      const run = layFull(world);
      const seen = await seenNow(world, run.runId);
      await writer.ask({ do: 'hold', run_dirs: [run.dir] });
      const removal = removeRun(run.dir, seen, { waitMs: 10_000, signal });
      replaceRecord(run, { late_report: 'it speaks' });
      await writer.ask({ do: 'release' });
      expect(await removal).toEqual({ kind: 'changed' });
      expect(run.record().get('late_report')).toBe('it speaks');
      expect(readdirSync(run.dir)).toHaveLength(5);
    });
  });

  it('one that comes again and again either keeps its run or finds it gone, never half a record', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      const outcomes = new Set<string>();
      for (let n = 1; n <= 60; n++) {
        const run = layEnded(world, runIdOf(n), 'completed', { label: 'before' });
        const seen = await seenNow(world, run.runId);
        const merged = writer
          .ask({ do: 'merge', run_dir: run.dir, set: { label: 'after' } })
          .then(() => 'written')
          .catch((error: Error) => (/No such file/.test(error.message) ? 'gone' : error.message));
        if (n % 3 > 0) await new Promise((resolve) => setTimeout(resolve, n % 3));
        const removal = await removeRun(run.dir, seen, { waitMs: 5_000, signal });
        const outcome = `${removal.kind}, ${await merged}`;
        outcomes.add(outcome);
        expect(['removed, gone', 'changed, written']).toContain(outcome);
        if (removal.kind === 'changed') expect(run.record().get('label')).toBe('after');
        else expect(existsSync(run.recordFile)).toBe(false);
      }
      expect(outcomes.size).toBe(2);
    });
  });
});
