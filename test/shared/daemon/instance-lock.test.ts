import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type InstanceNote, lookAtInstance, takeInstanceLock } from '../../../shared/daemon/instance-lock.ts';
import { inWorld } from '../../support/in-world.ts';
import { PYTHON, runPython } from '../../support/python.ts';

const NOTE: InstanceNote = { pid: 4711, version: '0.1.0', startedAt: '2026-12-01T12:00:00+00:00' };
const NOW = { waitMs: 0, signal: new AbortController().signal };

async function taken(stateDir: string, note = NOTE) {
  const answer = await takeInstanceLock(stateDir, note, NOW);
  if (!('taken' in answer)) throw new Error('held by another');
  return answer.taken;
}

describe('the instance lock', () => {
  it('is held by one, who is named to the next; free again once it lets go', async () => {
    await inWorld(async ({ work }) => {
      const lock = await taken(work);
      expect(await takeInstanceLock(work, { ...NOTE, pid: 1 }, NOW)).toEqual({ heldBy: NOTE });
      expect(await lookAtInstance(work)).toEqual({ running: true, ...NOTE });
      lock.release();
      expect(await lookAtInstance(work)).toEqual({ running: false });
      (await taken(work, { ...NOTE, pid: 2 })).release();
    });
  });

  it('its file and directory are made for their owner alone and stay', async () => {
    await inWorld(async ({ work }) => {
      const before = process.umask(0);
      const lock = await taken(join(work, 'mcp', 'liond')).finally(() => process.umask(before));
      lock.release();
      const mode = (name: string) => (statSync(join(work, 'mcp', name)).mode & 0o777).toString(8);
      expect([mode('liond'), mode('liond/instance.lock')]).toEqual(['700', '600']);
      expect(JSON.parse(readFileSync(join(work, 'mcp/liond/instance.lock'), 'utf8'))).toEqual({
        pid: 4711,
        version: '0.1.0',
        started_at: NOTE.startedAt,
      });
    });
  });

  it('a shorter note leaves nothing of a longer one behind', async () => {
    await inWorld(async ({ work }) => {
      (await taken(work, { ...NOTE, version: '0.1.0-something-longer' })).release();
      const lock = await taken(work);
      expect(await lookAtInstance(work)).toEqual({ running: true, ...NOTE });
      lock.release();
    });
  });

  it.each([
    ['pid 1', () => '1'],
    ['a live stranger', () => JSON.stringify({ pid: process.pid, version: '0.1.0', started_at: 'now' })],
    ['nothing', () => ''],
    ['no JSON', () => '{"pid": '],
    ['a list', () => '[1]'],
  ])('case 60: a file that says %s and that nobody holds stops nobody', async (_what, text) => {
    await inWorld(async ({ work }) => {
      writeFileSync(join(work, 'instance.lock'), text());
      expect(await lookAtInstance(work)).toEqual({ running: false });
      const lock = await taken(work);
      expect(await lookAtInstance(work)).toEqual({ running: true, ...NOTE });
      lock.release();
    });
  });

  it('what a holder wrote that is no note is nothing known of it', async () => {
    await inWorld(async ({ work }) => {
      const lock = await taken(work);
      writeFileSync(join(work, 'instance.lock'), '{"pid": "4711", "version": 3}');
      expect(await lookAtInstance(work)).toEqual({
        running: true,
        pid: null,
        version: null,
        startedAt: null,
      });
      lock.release();
    });
  });

  it('excludes a flock(2) of another program, and looking makes and changes nothing', async () => {
    await inWorld(async ({ work }) => {
      expect(await lookAtInstance(join(work, 'none'))).toEqual({ running: false });
      const lock = await taken(work);
      const long = new Date(0);
      utimesSync(join(work, 'instance.lock'), long, long);
      await lookAtInstance(work);
      expect(statSync(join(work, 'instance.lock')).mtimeMs).toBe(0);
      const program = `
import fcntl, sys
try: fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB); print("taken")
except BlockingIOError: print("busy")`;
      const ask = () => runPython(program, { args: [join(work, 'instance.lock')] });
      expect(await ask()).toBe('busy\n');
      lock.release();
      expect(await ask()).toBe('taken\n');
    });
  });

  it('those who look never take one another for a supervisor', async () => {
    await inWorld(async ({ work }) => {
      (await taken(work)).release();
      const looking = `import fcntl, sys, time
fcntl.flock(open(sys.argv[1]), fcntl.LOCK_SH); print("looking", flush=True); time.sleep(60)`;
      const { spawn } = await import('node:child_process');
      const child = spawn(PYTHON, ['-c', looking, join(work, 'instance.lock')]);
      await new Promise((resolve) => child.stdout.once('data', resolve));
      expect(await lookAtInstance(work)).toEqual({ running: false });
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
    });
  });

  it('a look that lasts does not turn a start away; a holder that stays does, after the wait', async () => {
    await inWorld(async ({ work }) => {
      const look = await taken(work);
      setTimeout(() => look.release(), 300);
      const wait = { ...NOW, waitMs: 5_000 };
      const answer = await takeInstanceLock(work, NOTE, wait);
      expect(answer).toHaveProperty('taken');
      const began = performance.now();
      expect(await takeInstanceLock(work, NOTE, { ...NOW, waitMs: 200 })).toEqual({ heldBy: NOTE });
      expect(performance.now() - began).toBeGreaterThanOrEqual(200);
      if ('taken' in answer) answer.taken.release();
    });
  });

  it('knows that its file was removed, renamed or replaced, and that a name was put back', async () => {
    await inWorld(async ({ work }) => {
      const path = join(work, 'instance.lock');
      const lock = await taken(work);
      expect(lock.isStillOurs()).toBe(true);
      renameSync(path, `${path}.away`);
      expect(lock.isStillOurs()).toBe(false);
      writeFileSync(path, readFileSync(`${path}.away`));
      expect(lock.isStillOurs()).toBe(false);
      renameSync(`${path}.away`, path);
      expect(lock.isStillOurs()).toBe(true);
      rmSync(path);
      expect(lock.isStillOurs()).toBe(false);
      lock.release();
    });
  });

  it('a path that cannot be locked is the system\u2019s error, not a supervisor', async () => {
    await inWorld(async ({ work }) => {
      mkdirSync(join(work, 'instance.lock'));
      await expect(taken(work)).rejects.toMatchObject({ code: 'EISDIR' });
      rmSync(join(work, 'instance.lock'), { recursive: true });
      execFileSync('mkfifo', [join(work, 'instance.lock')]);
      await expect(taken(work)).rejects.toMatchObject({ code: 'EINVAL' });
    });
  });
});
