import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runAt } from '../support/lay-run.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { PYTHON } from '../support/python.ts';
import { inShell } from '../support/shell.ts';
import { ended, recordNow, type SubmittedRun } from '../support/submitted.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

describe.concurrent('`--wait` stays with a run', () => {
  const outcomes: readonly (readonly [string, string, number])[] = [
    ['a success exits 0', 'echo out; echo err >&2; printf "no last newline"', 0],
    [
      'a failure exits 1, whatever its own exit code',
      'echo out; echo err >&2; printf "no last newline"; exit 7',
      1,
    ],
    ['so does an end by a signal', 'echo out; echo err >&2; printf "no last newline"; kill -KILL $$', 1],
  ];
  it.each(outcomes)('%s, and its log is shown', async (_what, script, exitCode) => {
    await inWorld(async (world) => {
      const run = await runLion(['job', 'submit', '--wait', '--', 'sh', '-c', script], world);
      expect(run.exitCode).toBe(exitCode);
      // A shell may add a word of its own about the signal.
      expect(run.stdout).toMatch(/^out\nerr\nno last newline(Killed\n)?$/);
      expect(run.stderr).toMatch(/^run (\S+); .*\nrun \1 ended: (succeeded|failed)\n$/);
    });
  });

  it('one that vanished without a word exits 1', async () => {
    await inWorld(async (world) => {
      const waiting = startWaiting(world, [PYTHON, '-c', 'import os; os.killpg(0, 9)']);
      expect(await waiting.end).toEqual([1, null]);
      expect(waiting.stderr()).toMatch(/ended: indeterminate\n$/);
    });
  });

  it('its log is shown as it grows, a character that comes in two parts as one', async () => {
    await inWorld(async (world) => {
      const go = join(world.root, 'go');
      const program = `import os, sys, time
os.write(1, b"first caf\\xc3")
while not os.path.exists(sys.argv[1]): time.sleep(0.02)
os.write(1, b"\\xa9 \\xf0\\x9f\\x98\\x80 last\\n")`;
      const waiting = startWaiting(world, [PYTHON, '-c', program, go]);
      await waitUntil('the first part to be shown', () => waiting.stdout() === 'first caf');
      writeFileSync(go, '');
      expect(await waiting.end).toEqual([0, null]);
      expect(waiting.stdout()).toBe('first caf\u00e9 \u{1f600} last\n');
    });
  });

  it('a log that grows many times is shown with no word of the runtime in between', async () => {
    await inWorld(async (world) => {
      const program = 'import time\nfor n in range(30): print(n, flush=True); time.sleep(0.15)';
      const waiting = startWaiting(world, [PYTHON, '-c', program]);
      expect(await waiting.end).toEqual([0, null]);
      expect(waiting.stdout().trimEnd().split('\n')).toHaveLength(30);
      expect(waiting.stderr()).toMatch(/^run (\S+); .*\nrun \1 ended: succeeded\n$/);
    });
  });

  it('the whole of a large log is shown, however slowly it is read', async () => {
    await inWorld(async (world) => {
      const line = '{ lion job submit --wait -- seq 400000 2>"$1"; echo "exit $?" >&2; } | (sleep 1; cat)';
      const { stdout, stderr } = await inShell(world, line, [join(world.root, 'said')]);
      expect(stderr).toBe('exit 0\n');
      const lines = stdout.toString('utf8').split('\n');
      expect([lines.length, lines[0], lines[399_999], lines[400_000]]).toEqual([400_001, '1', '400000', '']);
    });
  });

  it('a reader that has had enough does not end the run', async () => {
    await inWorld(async (world) => {
      const script = 'seq 100000; sleep 0.5; seq 100000; echo last > "$1"';
      const line = 'lion job submit --label headed --wait -- sh -c "$1" sh "$2" 2>/dev/null | head -n 1';
      const { stdout } = await inShell(world, line, [script, join(world.root, 'done')]);
      expect(stdout.toString('utf8')).toBe('1\n');
      const { jobs } = await askData(world, ['job', 'list']);
      const run = runAt(join(world.jobs, jobs[0].run_id), jobs[0].run_id);
      expect(await ended(run)).toMatchObject({ label: 'headed', status: 'completed' });
    });
  });

  const interruptions: readonly (readonly [NodeJS.Signals, number])[] = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ];
  it.each(interruptions)(
    '%s leaves the run running, says how to come back, and exits %i',
    async (signal, exitCode) => {
      await inWorld(async (world) => {
        const go = join(world.root, 'go');
        const script = 'echo first; until [ -e "$1" ]; do sleep 0.02; done; echo last; exit 3';
        const waiting = startWaiting(world, ['sh', '-c', script, 'sh', go]);
        await waitUntil('the run to be shown', () => waiting.stdout() === 'first\n');
        waiting.child.kill(signal);
        expect(await waiting.end).toEqual([exitCode, null]);
        expect(waiting.stderr()).toMatch(/^run (\S+); .*\n.*lion job wait \1\n$/);
        const run = waiting.run();
        expect(await askData(world, ['job', 'status', run.runId])).toMatchObject({
          terminal: false,
          alive: true,
        });
        writeFileSync(go, '');
        const back = await runLion(['job', 'wait', run.runId], world);
        expect(back.exitCode).toBe(1);
        expect(recordNow(run)).toMatchObject({ exit_code: 3, terminal_source: 'cli_terminal_hook' });
        const output = await askData(world, ['job', 'output', run.runId]);
        expect(output.console.value).toBe('first\nlast\n');
      });
    },
  );

  it('for a program: one envelope, with the end', async () => {
    await inWorld(async (world) => {
      const script = 'echo out; sleep 0.3; exit 7';
      const data = await askData(world, ['job', 'submit', '--wait', '--', 'sh', '-c', script]);
      expect(data).toMatchObject({ terminal: true, outcome: 'failed', exit_code: 7, status: 'failed' });
      expect(data.console.value).toBe('out\n');
    });
  });
});

interface Waiting {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly end: Promise<[number | null, NodeJS.Signals | null]>;
  /** The run it said it stays with. */
  run(): SubmittedRun;
}

function startWaiting(world: World, argv: readonly string[]): Waiting {
  const child = spawn(process.execPath, [LION_MAIN, 'job', 'submit', '--wait', '--', ...argv], {
    env: world.env,
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  world.onDispose(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return {
    child,
    stdout: () => out,
    stderr: () => err,
    end: new Promise((resolve) => child.once('close', (code, signal) => resolve([code, signal]))),
    run: () => {
      const runId = /^run (\S+);/.exec(err)?.[1] ?? '';
      const run = runAt(join(world.jobs, runId), runId);
      return { ...run, pid: Number(recordNow(run).pid), log: join(run.dir, 'console.log') };
    },
  };
}
