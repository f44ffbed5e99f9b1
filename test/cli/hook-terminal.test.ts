import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { startSleeper } from '../support/processes.ts';
import {
  jsonObject,
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  noticeOf,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { inShell } from '../support/shell.ts';
import { makeLi, makeNotifier } from '../support/stand-ins.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { waitUntil } from '../support/wait-until.ts';

const RUN = runIdOf(1);
const hook = (...args: string[]): string[] => ['hook', 'terminal', '--run-id', RUN, ...args];

function consoleOf(run: LaidRun): string {
  const file = join(run.dir, 'console.log');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

describe('lion hook terminal records the end of its run', () => {
  it('says nothing, on a terminal and in a pipe, and exits 0', async () => {
    await inWorld(async (world) => {
      layAdvisory(world, RUN);
      layAdvisory(world, runIdOf(2));
      expect(await runLion(hook(), world)).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
      const seen = await lionOnTerminal(world, ['hook', 'terminal', '--run-id', runIdOf(2)]);
      expect(seen).toEqual({ exitCode: 0, screen: '', stderr: '' });
    });
  });

  it('writes the reported status, exit status and signal, and that the run itself reported them', async () => {
    await inWorld(async (world) => {
      const run = layAdvisory(world, RUN);
      const args = hook('--status', 'some_future_word', '--exit-code', '3', '--exit-signal', 'SIGTERM');
      expect((await runLion(args, world)).exitCode).toBe(0);
      expect(await askData(world, ['job', 'status', RUN])).toMatchObject({
        status: 'some_future_word',
        terminal: true,
        outcome: 'failed',
        exit_code: 3,
        exit_signal: 'SIGTERM',
        terminal_source: 'cli_terminal_hook',
        finished_at_precision: 'observed',
      });
      expect(run.text()).toContain('12345678901234567890123');
    });
  });

  it('an end that is there stays, to the byte, whatever a second report says', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'completed');
      const before = run.text();
      expect((await runLion(hook('--status', 'failed'), world)).exitCode).toBe(0);
      expect(run.text()).toBe(before);
    });
  });

  it('a report that comes after an observer ended the run is kept beside that end', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, RUN);
      const ended = await askData(world, ['job', 'status', RUN]);
      expect((await runLion(hook('--status', 'completed', '--exit-code', '0'), world)).exitCode).toBe(0);
      const after = await askData(world, ['job', 'status', RUN]);
      for (const name of ['status', 'outcome', 'finished_at', 'terminal_source'])
        expect(after[name]).toBe(ended[name]);
      expect(after.late_report).toMatchObject({ status: 'completed', exit_code: 0 });
      expect(run.record().get('finished_at')).toBe(ended.finished_at);
    });
  });

  it('there is nothing to say for a run nobody has: exit 0, and no directory is made', async () => {
    await inWorld(async (world) => {
      expect((await runLion(hook(), world)).exitCode).toBe(0);
      expect(await askData(world, hook())).toMatchObject({ recorded: false });
      expect(existsSync(join(world.jobs, RUN))).toBe(false);
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s, which ended the run, does not cut its last act short',
    async (signal) => {
      await inWorld(async (world) => {
        const notifier = makeNotifier(world, 'notifier', 'time.sleep(1)');
        const run = layAdvisory(world, RUN, { notify_command: notifier.command });
        const child = spawn(process.execPath, [LION_MAIN, ...hook()], { env: world.env, cwd: world.cwd });
        const ended = once(child, 'close');
        await waitUntil('the notifier to have started', () => notifier.calls().length === 1);
        child.kill(signal);
        await ended;
        expect(noticeOf(run)).toMatchObject({ attempted: true, ok: true, exit_code: 0 });
        expect(notifier.calls()).toHaveLength(1);
      });
    },
  );
});

describe('a run that worked in a directory it then removed', () => {
  const FROM_NOWHERE = 'mkdir gone && cd gone && rmdir ../gone && lion "$@"';

  it('still records its end and sends its notice: its last act does not need the directory', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layAdvisory(world, RUN, { notify_command: notifier.command });
      const { exitCode, stderr } = await inShell(world, FROM_NOWHERE, hook('--status', 'completed'));
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(run.record().get('status')).toBe('completed');
      expect(run.record().get('finished_at')).not.toBeNull();
      expect(noticeOf(run)).toMatchObject({ attempted: true, ok: true });
    });
  });

  it.each([['list'], ['status', RUN], ['output', RUN], ['wait', RUN, '--max-wait', '0']])(
    'is asked about from there like from anywhere: job %s',
    async (...words) => {
      await inWorld(async (world) => {
        layEnded(world, RUN, 'completed');
        const { exitCode, stdout } = await inShell(world, FROM_NOWHERE, ['job', ...words, '--machine']);
        const { ok, error } = JSON.parse(stdout.toString('utf8'));
        expect([exitCode, ok, error]).toEqual([0, true, null]);
      });
    },
  );

  it('the lifecycle store is asked from there too', async () => {
    await inWorld(async (world) => {
      const li = makeLi(world, 'answer(True, "cancelled")');
      await layGone(world, RUN);
      const { stdout } = await inShell(world, FROM_NOWHERE, ['job', 'status', RUN, '--machine']);
      expect(JSON.parse(stdout.toString('utf8')).data).toMatchObject({ outcome: 'cancelled' });
      expect(li.calls()).toHaveLength(1);
    });
  });
});

describe('ADR-0107 D5: what could not be recorded is told where someone looks', () => {
  it('no lock: exit 1, the record as it was, a line in the run\u2019s log, and no notice', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layAdvisory(world, RUN, { notify_command: notifier.command });
      mkdirSync(join(run.dir, 'job.lock'));
      const before = run.text();
      const { exitCode, stdout, stderr } = await runLion(hook(), world);
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).toContain('not recorded');
      expect(run.text()).toBe(before);
      expect(consoleOf(run)).toMatch(/^\[lion\] run .* could not be recorded .*\n$/);
      expect(notifier.calls()).toEqual([]);
      expect((await ask(world, hook())).error?.kind).toBe('unavailable');
    });
  });

  it('a log that is a FIFO nobody reads does not hold up who would write a line to it', async () => {
    await inWorld(async (world) => {
      const run = layAdvisory(world, RUN);
      mkdirSync(join(run.dir, 'job.lock'));
      execFileSync('mkfifo', [join(run.dir, 'console.log')]);
      const { exitCode, signal } = await runLion(hook(), { ...world, withinMs: 15_000 });
      expect([exitCode, signal]).toEqual([1, null]);
    });
  });

  it('a record that cannot be parsed is not written, and gets no notice', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      world.env.LIONAGI_MCP_NOTIFY_COMMAND = notifier.command;
      const run = layAdvisory(world, RUN);
      writeFileSync(run.recordFile, '{"run_id": ');
      expect((await runLion(hook(), world)).exitCode).toBe(1);
      expect(run.text()).toBe('{"run_id": ');
      expect(notifier.calls()).toEqual([]);
    });
  });
});

describe('ADR-0106 D9: a notice is a prompt to read the state', () => {
  it('it goes out when the end is on the record and the artifacts are there, so whoever it wakes finds both', async () => {
    await inWorld(async (world) => {
      const artifacts = join(world.lionagiHome, 'runs', RUN, 'artifacts');
      mkdirSync(artifacts, { recursive: true });
      writeFileSync(join(artifacts, 'report.md'), 'done');
      const body = `
record = json.load(open(${JSON.stringify(join(world.jobs, RUN, 'job.json'))}))
found = {"record": record, "artifacts": os.listdir(${JSON.stringify(artifacts)})}
open(${JSON.stringify(join(world.root, 'found.json'))}, "w").write(json.dumps(found))`;
      const notifier = makeNotifier(world, 'notifier', body);
      layAdvisory(world, RUN, { notify_command: notifier.command });
      await runLion(hook('--status', 'completed'), world);
      const found = JSON.parse(readFileSync(join(world.root, 'found.json'), 'utf8'));
      expect(found.artifacts).toEqual(['report.md']);
      expect(found.record).toMatchObject({
        status: 'completed',
        finished_at: expect.any(String),
        notify_delivery: { attempted: true, ok: null, error: 'delivery_outcome_unknown' },
      });
    });
  });

  it('attempted: false says that none was configured, and differs from one that failed', async () => {
    await inWorld(async (world) => {
      const failing = makeNotifier(world, 'failing', 'sys.exit(1)');
      layAdvisory(world, runIdOf(1));
      layAdvisory(world, runIdOf(2), { notify_command: failing.command });
      for (const n of [1, 2]) await runLion(['hook', 'terminal', '--run-id', runIdOf(n)], world);
      const none = await askData(world, ['job', 'status', runIdOf(1)]);
      const failed = await askData(world, ['job', 'status', runIdOf(2)]);
      expect(none).toMatchObject({
        notify_delivery: { available: true, value: { attempted: false } },
        notify_delivery_state: 'none',
      });
      expect(failed).toMatchObject({
        notify_delivery: { available: true, value: { attempted: true, ok: false, exit_code: 1 } },
        notify_delivery_state: 'failed',
        outcome: 'succeeded',
      });
    });
  });

  it('whether it arrived or not, the same state is found by asking', async () => {
    await inWorld(async (world) => {
      const [good, bad] = [makeNotifier(world, 'good'), makeNotifier(world, 'bad', 'sys.exit(9)')];
      layAdvisory(world, runIdOf(1), { notify_command: good.command });
      layAdvisory(world, runIdOf(2), { notify_command: bad.command });
      const states = [];
      for (const n of [1, 2]) {
        await runLion(['hook', 'terminal', '--run-id', runIdOf(n), '--status', 'failed'], world);
        const { status, terminal, outcome } = await askData(world, ['job', 'status', runIdOf(n)]);
        states.push({ status, terminal, outcome });
      }
      expect(states[0]).toEqual({ status: 'failed', terminal: true, outcome: 'failed' });
      expect(states[1]).toEqual(states[0]);
    });
  });

  it('a run that does not reach an end sends none, however often it is asked about', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const command = { notify_command: notifier.command };
      layAdvisory(world, runIdOf(1), command);
      layRun(world, runIdOf(2), { ...command, spawn_state: 'preparing' });
      await layLive(world, runIdOf(3), command);
      for (const _ of [1, 2]) await askData(world, ['job', 'list']);
      await askData(world, ['job', 'wait', ...[1, 2, 3].map(runIdOf), '--max-wait', '0']);
      expect(notifier.calls()).toEqual([]);
    });
  });
});

describe('the notice of a hook', () => {
  it('names the run in its arguments and as JSON on its standard input, with its delivery id and attempt', async () => {
    await inWorld(async (world) => {
      const args = ['{run_id}', '{status}', '{label}', '{target}', '{sender}'];
      const notifier = makeNotifier(world, 'notifier', '', args);
      const never = join(world.root, 'never');
      const label = `a label; $(touch ${never}) \`x\``;
      layAdvisory(world, RUN, {
        label,
        notify_command: notifier.command,
        notify_target: 'ops',
        notify_sender: 'me',
      });
      await runLion(hook('--status', 'failed'), world);
      const [call] = notifier.calls();
      expect(call?.args).toEqual([RUN, 'failed', label, 'ops', 'me']);
      expect(call?.cwd).toBe(world.cwd);
      expect(call?.env.LIONAGI_NOTIFY_SENDER).toBe('me');
      const told = JSON.parse(call?.stdin ?? '');
      expect(told).toMatchObject({ run_id: RUN, status: 'failed', target: 'ops', sender: 'me', attempt: 1 });
      expect(told.delivery_id).toMatch(/^[0-9a-f]{32}$/);
      expect(call?.env.LIONAGI_NOTIFY_DELIVERY_ID).toBe(told.delivery_id);
      expect(existsSync(never)).toBe(false);
    });
  });

  it('is sent once, though the hook is called again', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layAdvisory(world, RUN, { notify_command: notifier.command });
      await Promise.all([1, 2, 3].map(() => runLion(hook(), world)));
      await runLion(hook(), world);
      expect(notifier.calls()).toHaveLength(1);
      expect(noticeOf(run)).toMatchObject({ ok: true, attempts: 1 });
    });
  });

  it('of a run that an observer is about to end goes out once, whoever wins', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const sleeper = await startSleeper(null);
      const run = layRun(world, RUN, { ...identityOf(sleeper), notify_command: notifier.command });
      await sleeper.stop();
      await Promise.all([
        runLion(hook(), world),
        runLion(['job', 'status', RUN], world),
        runLion(['job', 'list'], world),
      ]);
      await waitUntil('the notice to be settled', () => noticeOf(run).ok === true);
      expect(notifier.calls()).toHaveLength(1);
    });
  });

  it('what a notifier prints is nowhere: not on stdout, not in the record, not in the log', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(
        world,
        'notifier',
        'print("SECRET-OUT"); print("SECRET-ERR token", file=sys.stderr); sys.exit(1)',
      );
      const run = layAdvisory(world, RUN, { notify_command: notifier.command });
      const { stdout, stderr } = await runLion(hook(), world);
      const traces = [stdout, stderr, run.text(), consoleOf(run)].join('\n');
      expect(traces).not.toContain('SECRET');
      expect(noticeOf(run)).toMatchObject({ ok: false, exit_code: 1, failure_class: 'unknown' });
      expect(consoleOf(run)).toContain('NOT delivered');
    });
  });

  it('a Python program that has begun one is not joined', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layEnded(world, RUN, 'completed', {
        notify_command: notifier.command,
        notify_delivery: jsonObject({ attempted: true, ok: null, error: 'delivery_outcome_unknown' }),
      });
      const before = run.text();
      await runLion(hook(), world);
      expect([run.text(), notifier.calls()]).toEqual([before, []]);
    });
  });
});
