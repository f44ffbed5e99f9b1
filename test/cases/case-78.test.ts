import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { layGone, layLive, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { spawnSupervisor, startSupervisor, supervisorLog } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

type Line = Record<string, unknown>;

function linesOf(world: World): Line[] {
  return supervisorLog(world)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** A fault from outside the program: a module that is loaded before it, and does this while it runs. */
function withFault(world: World, code: string): void {
  world.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

describe('case 78: the last word is in the log', () => {
  it.each<[string, string, string]>([
    [
      'an exception that nobody caught',
      'setTimeout(() => { throw new Error("came apart") }, 1500)',
      'came apart',
    ],
    [
      'a rejection that nobody awaited',
      'setTimeout(() => Promise.reject(new Error("let go")), 1500)',
      'let go',
    ],
    ['something thrown that is no error', 'setTimeout(() => { throw "a word" }, 1500)', 'a word'],
  ])(
    'case 78: %s: exit 70, message and stack in the log, no argv and no environment',
    async (_what, code, message) => {
      await inWorld(async (world) => {
        withFault(world, code);
        world.env.A_SECRET = 'SECRET-4f1c';
        const live = await layLive(world, runIdOf(1), { argv: ['li', 'SECRET-4f1c'] });
        const supervisor = spawnSupervisor(world);
        expect((await supervisor.ended()).exitCode).toBe(70);
        const last = linesOf(world).at(-1);
        expect(last).toMatchObject({ level: 60, event: 'fatal', exit_code: 70, message });
        if (code.includes('Error')) expect(last?.stack).toMatch(/\n {4}at /);
        expect(supervisor.complained()).toContain(message);
        expect(supervisorLog(world) + supervisor.complained()).not.toContain('SECRET-4f1c');
        expect(live.record().get('finished_at')).toBeNull();
        expect(
          await askData(world, ['daemon', 'status'], { env: { ...world.env, NODE_OPTIONS: '' } }),
        ).toMatchObject({
          state: 'stopped',
        });
      });
    },
  );

  it('case 78: SIGTERM in mid-delivery: what it waited for and that it stopped', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(2)');
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
      await supervisor.end('SIGTERM');
      const events = linesOf(world);
      expect(events.at(-1)).toMatchObject({ event: 'stopped' });
      expect(events).toContainEqual(expect.objectContaining({ event: 'stopping', reason: 'SIGTERM' }));
      expect(events).toContainEqual(expect.objectContaining({ event: 'notice', run_id: run.runId }));
    });
  });

  it('case 78: a second SIGTERM in mid-delivery: that what was under way was cut off', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(25)');
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
      supervisor.signal('SIGTERM');
      await waitUntil('it to be stopping', () => supervisor.said().includes('stopping'));
      expect((await supervisor.end('SIGTERM')).exitCode).toBe(1);
      expect(linesOf(world).at(-1)).toMatchObject({
        event: 'fatal',
        exit_code: 1,
        message: expect.stringContaining('SIGTERM'),
      });
      expect(noticeOf(run)).toMatchObject({ attempted: true, ok: null });
    });
  });

  it('case 78: a configuration that is wrong: exit 78, and the log names the key', async () => {
    await inWorld(async (world) => {
      mkdirSync(join(world.lionagiHome, 'mcp'));
      writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), 'no_such_key: true\n');
      expect((await spawnSupervisor(world).ended()).exitCode).toBe(78);
      expect(linesOf(world)).toMatchObject([
        { event: 'fatal', exit_code: 78, message: expect.stringContaining('no_such_key') },
      ]);
    });
  });

  it('case 78: a jobs directory that cannot be used: exit 78, and the log names it', async () => {
    await inWorld(async (world) => {
      mkdirSync(join(world.lionagiHome, 'mcp'));
      writeFileSync(world.jobs, 'not a directory');
      expect((await spawnSupervisor(world).ended()).exitCode).toBe(78);
      expect(linesOf(world).at(-1)).toMatchObject({
        event: 'fatal',
        message: expect.stringContaining(world.jobs),
      });
    });
  });

  it('case 78: rotated away by rename while it runs, the log goes on at its path within seconds', async () => {
    await inWorld(async (world) => {
      const supervisor = await startSupervisor(world);
      const path = join(world.lionagiHome, 'mcp', 'liond', 'liond.log');
      renameSync(path, `${path}.old`);
      let runs = 0;
      await waitUntil(
        'lines at the path',
        async () => {
          const run = await layGone(world, runIdOf(++runs));
          return await waitUntil('an end', () => run.record().get('finished_at')).then(() => {
            try {
              return supervisorLog(world).includes('ended');
            } catch {
              return false; // not there yet
            }
          });
        },
        30_000,
      );
      await supervisor.end('SIGTERM');
      const all = readFileSync(`${path}.old`, 'utf8') + supervisorLog(world);
      for (let n = 1; n <= runs; n++) expect(all.split(`"ended","run_id":"${runIdOf(n)}"`)).toHaveLength(2);
      expect(linesOf(world).at(-1)).toMatchObject({ event: 'stopped' });
    });
  });

  it.skipIf(whyNoMountNamespace() !== null)(
    'case 78: on a full disk it starts, looks after its runs, and says once that it has no log',
    async () => {
      await inWorld(async (world) => {
        // Room for a directory entry, none for a page of text.
        const disk = await mountSmallDisk(world, 16 * 1024);
        mkdirSync(join(disk, 'state'));
        for (let n = 0; n < 16; n++)
          try {
            writeFileSync(join(disk, `filler${n}`), Buffer.alloc(4096));
          } catch (error) {
            expect(error).toMatchObject({ code: 'ENOSPC' });
          }
        mkdirSync(join(world.lionagiHome, 'mcp'));
        symlinkSync(join(disk, 'state'), join(world.lionagiHome, 'mcp', 'liond'));
        const supervisor = await startSupervisor(world);
        const run = await layGone(world, runIdOf(1));
        await waitUntil('its end', () => run.record().get('finished_at'));
        expect(supervisor.complained().match(/log_unwritable/g)).toHaveLength(1);
        expect(await askData(world, ['daemon', 'status'])).toMatchObject({ running: true, pid: null });
        expect((await supervisor.end('SIGTERM')).exitCode).toBe(0);
      });
    },
  );
});
