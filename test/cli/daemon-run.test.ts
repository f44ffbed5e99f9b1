import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { installInto, through } from '../support/install.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { ask } from '../support/machine.ts';
import { isThere } from '../support/processes.ts';
import { PYTHON } from '../support/python.ts';
import { layGone, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

interface Foreground {
  readonly lion: ChildProcess;
  readonly pid: () => number;
  said(): string;
  ended: Promise<[number | null, NodeJS.Signals | null]>;
}

const RUN = [process.execPath, LION_MAIN, 'daemon', 'run'];

/** Started as a shell starts it; up when the supervisor has gone over the store. */
async function startForeground(world: World, command = RUN): Promise<Foreground> {
  const [program = '', ...args] = command;
  const lion = spawn(program, args, { env: world.env, cwd: world.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [lion.stdout, lion.stderr])
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
    });
  const ended = once(lion, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  world.onDispose(async () => {
    if (lion.exitCode === null && lion.signalCode === null) lion.kill('SIGKILL');
    await ended;
  });
  await waitUntil(`the supervisor to be up: ${text}`, () => text.includes('not ended'), 30_000);
  const pid = () => Number(/pid (\d+)/.exec(text)?.[1]);
  await waitUntil('it to listen to signals', () =>
    /^SigCgt:\s*[0-9a-f]*[4567cdef][0-9a-f]{3}$/m.test(readFileSync(`/proc/${pid()}/status`, 'utf8')),
  );
  return { lion, pid, said: () => text, ended };
}

describe('lion daemon run', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'is the supervisor in the foreground: its words, and %s ends it in order with its status',
    async (signal) => {
      await inWorld(async (world) => {
        const foreground = await startForeground(world);
        expect(foreground.pid()).not.toBe(foreground.lion.pid);
        foreground.lion.kill(signal);
        expect(await foreground.ended).toEqual([0, null]);
        expect(foreground.said()).toMatch(new RegExp(`stopping \\(${signal}\\)[\\s\\S]*\\nstopped\\n$`));
        expect(isThere(foreground.pid())).toBe(false);
      });
    },
  );

  it('Ctrl-C at a terminal is one signal to it, so that a notice on its way is let finish', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(2)');
      await layGone(world, runIdOf(1), { notify_command: notifier.command });
      // The terminal signals the whole foreground group, as it does for Ctrl-C.
      const pty = `
import os, pty, sys, time
pid, master = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
seen = b""
sent = False
while True:
    try: got = os.read(master, 65536)
    except OSError: break
    if not got: break
    seen += got
    os.write(1, got)
    if not sent and b"not ended" in seen and os.path.exists(${JSON.stringify(join(world.root, 'notifier.log'))}):
        os.write(master, b"\\x03"); sent = True
    elif not sent: time.sleep(0.05); os.write(master, b"\\n")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
      const foreground = await startForeground(world, [PYTHON, '-c', pty, ...RUN]);
      expect(await foreground.ended).toEqual([0, null]);
      expect(foreground.said()).toContain('stopping (SIGINT)');
      expect(foreground.said()).toMatch(/notice: delivered[\s\S]*stopped/);
      expect(notifier.calls()).toHaveLength(1);
    });
  });

  it('a second signal is passed on too, and does not wait', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(25)');
      await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const foreground = await startForeground(world);
      await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
      foreground.lion.kill('SIGTERM');
      await waitUntil('it to be stopping', () => foreground.said().includes('stopping'));
      foreground.lion.kill('SIGTERM');
      expect(await foreground.ended).toEqual([1, null]);
    });
  });

  it('where another supervisor runs: its status, 75', async () => {
    await inWorld(async (world) => {
      await startSupervisor(world);
      const { exitCode, stderr } = await runLion(['daemon', 'run'], world);
      expect(exitCode).toBe(75);
      expect(stderr).toContain('already');
    });
  });

  it('is refused for a program: there is no envelope in it', async () => {
    await inWorld(async (world) => {
      expect((await ask(world, ['daemon', 'run'])).error).toMatchObject({ kind: 'invalid_input' });
      expect(existsSync(join(world.lionagiHome, 'mcp'))).toBe(false);
    });
  });

  it('an installation without its supervisor: exit 78', async () => {
    await inWorld(async (world) => {
      const installation = installInto(world, 'broken');
      rmSync(installation.liond);
      const { exitCode, stderr } = await runLion(['daemon', 'run'], { ...world, ...through(installation) });
      expect([exitCode, stderr]).toEqual([78, expect.stringContaining('is missing')]);
    });
  });
});
