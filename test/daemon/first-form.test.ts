import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { isThere } from '../support/processes.ts';
import {
  endNow,
  endOf,
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  noticeOf,
  REAPED,
  replaceRecord,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { giveToOrdinaryUser } from '../support/someone-else.ts';
import { makeLi, makeNotifier } from '../support/stand-ins.ts';
import { spawnSupervisor, startSupervisor, supervisorLog } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

function finishedAtMs(run: LaidRun): number {
  return Date.parse(String(run.record().get('finished_at')));
}

async function ended(run: LaidRun, withinMs = 10_000): Promise<void> {
  await waitUntil(`an end of ${run.runId}`, () => run.record().get('finished_at'), withinMs);
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe('the supervisor at its start', () => {
  it('makes the jobs directory for its owner alone and says in words what it does', async () => {
    await inWorld(async (world) => {
      rmSync(world.lionagiHome, { recursive: true });
      const supervisor = await startSupervisor(world, { through: 'umask 000; exec "$@"' });
      expect(modeOf(world.jobs)).toBe('700');
      const state = join(world.lionagiHome, 'mcp', 'liond');
      expect([modeOf(state), modeOf(join(state, 'liond.log'))]).toEqual(['700', '600']);
      expect(readdirSync(world.jobs)).toEqual([]);
      const [first, second] = supervisor.said().split('\n');
      expect(first).toContain(world.jobs);
      expect(first).toMatch(/^liond \d+\.\d+\.\d+ \(pid \d+\) looks after the runs in .*; Ctrl-C stops it/);
      expect(second).toMatch(/^0 runs, 0 of them not ended/);
      expect(supervisor.complained()).toBe('');
    });
  });

  it('says how many runs it found and how many have not ended', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      await layLive(world, runIdOf(2));
      layPreparing(world, runIdOf(3), 700);
      const supervisor = await startSupervisor(world);
      expect(supervisor.said()).toContain('3 runs, 2 of them not ended');
    });
  });

  it('takes no arguments but --version and --help', async () => {
    await inWorld(async (world) => {
      const asked = async (arg: string): Promise<[number | null, string]> => {
        const supervisor = spawnSupervisor(world, { args: [arg] });
        const { exitCode } = await supervisor.ended();
        return [exitCode, supervisor.said()];
      };
      expect(await asked('--version')).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
      expect((await asked('--help'))[0]).toBe(0);
      expect((await asked('--nosuch'))[0]).toBe(2);
      expect(readdirSync(world.lionagiHome)).toEqual([]);
    });
  });

  it.each([
    ['a key that is none', 'no_such_key: true\n', 'no_such_key'],
    ['a value of another type', 'judge_unowned_records: sometimes\n', 'judge_unowned_records'],
    [
      'a wrong key beside a right one',
      'judge_unowned_records: true\njudge_everything: 1\n',
      'judge_everything',
    ],
    ['no mapping', '- judge_unowned_records\n', 'liond.yaml'],
    ['no YAML', 'judge_unowned_records: [\n', 'liond.yaml'],
  ])('a liond.yaml with %s: exit 78, named, and nothing is looked after', async (_what, text, named) => {
    await inWorld(async (world) => {
      const run = await layGone(world, runIdOf(1));
      const before = run.text();
      writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), text);
      const supervisor = spawnSupervisor(world);
      const { exitCode } = await supervisor.ended();
      expect([exitCode, supervisor.said()]).toEqual([78, '']);
      expect(supervisor.complained()).toContain(named);
      expect(supervisor.complained()).toContain('liond.yaml');
      expect(supervisor.complained()).not.toMatch(/\n\s+at /);
      expect(run.text()).toBe(before);
    });
  });

  it.each<[string, string, (world: World) => { uid?: number }]>([
    [
      'a jobs directory that is a file',
      'jobs',
      (world) => {
        mkdirSync(join(world.lionagiHome, 'mcp'));
        writeFileSync(world.jobs, 'not a directory');
        return {};
      },
    ],
    [
      'a log that is a directory',
      'liond.log',
      (world) => {
        mkdirSync(join(world.lionagiHome, 'mcp', 'liond', 'liond.log'), { recursive: true });
        return {};
      },
    ],
    [
      'a home it may not write',
      'mcp',
      (world) => {
        const who = giveToOrdinaryUser(world);
        chmodSync(world.lionagiHome, 0o500);
        return who;
      },
    ],
  ])('%s is said in words, not by a stack trace', async (_what, named, lay) => {
    await inWorld(async (world) => {
      const supervisor = spawnSupervisor(world, lay(world));
      await waitUntil(
        'it to tell',
        () => !supervisor.isRunning() || /fault|degraded/.test(supervisor.said() + supervisor.complained()),
      );
      const told = supervisor.said() + supervisor.complained();
      expect(told).toContain(named);
      expect(told).not.toMatch(/\n\s+at /);
    });
  });
});

describe('case 11: an orphan is found without a file event and without a reader', () => {
  // Other work on the machine may take its second; a supervisor that is late by itself is late each time.
  it('case 11: a run killed while the supervisor runs is ended, and its notice launched, within 2 s', {
    retry: 2,
  }, async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const runs = await Promise.all(
        [1, 2, 3].map((n) => layLive(world, runIdOf(n), { notify_command: notifier.command })),
      );
      await startSupervisor(world);
      await sleep(1_500); // it has seen them alive, and sleeps between two looks
      const killed = new Map<string, number>();
      for (const run of runs) {
        await sleep(370);
        killed.set(run.runId, Date.now());
        await run.process.stop();
      }
      await waitUntil('three notices', () => notifier.calls().length === 3);
      const ends = runs.map((run) => finishedAtMs(run) - (killed.get(run.runId) ?? 0));
      const notices = notifier.calls().map((call) => call.at * 1000 - (killed.get(call.args[0] ?? '') ?? 0));
      expect(median(ends)).toBeLessThan(2_000);
      expect(median(notices)).toBeLessThan(2_000);
      for (const run of runs) {
        expect(endOf(run)).toEqual(REAPED);
        await waitUntil('the result of its notice', () => noticeOf(run).ok === true);
      }
    });
  });

  it('case 11: a run that was gone before it started is ended and told of at once', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await waitUntil('the notice', () => noticeOf(run)?.ok === true);
      expect(endOf(run)).toEqual(REAPED);
      expect(notifier.calls()).toHaveLength(1);
      for (const words of ['has ended: indeterminate (mcp_orphan_reaper)', 'notice: delivered'])
        await waitUntil(words, () => supervisor.said().includes(`${run.runId} ${words}`));
    });
  });

  it('what is not conclusive stays as it is, to the byte, look after look', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const command = { notify_command: notifier.command };
      const live = await layLive(world, runIdOf(1), command);
      const runs = [
        live,
        layAdvisory(world, runIdOf(2), command),
        layPreparing(world, runIdOf(3), 30 * 86_400),
        await layGone(world, runIdOf(4), { ...command, run_id: 'another' }),
        await layGone(world, runIdOf(5), { ...command, spawn_state: 'preparing' }),
      ];
      process.kill(live.process.pid, 'SIGSTOP'); // it does nothing, and it is there
      const before = runs.map((run) => run.text());
      const supervisor = await startSupervisor(world);
      await sleep(3_500);
      expect(runs.map((run) => run.text())).toEqual(before);
      expect(notifier.calls()).toEqual([]);
      expect(supervisor.said()).not.toContain('has ended');
    });
  });

  it('a run that ends by its own hook is left to it: one end, one notice', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = await layLive(world, runIdOf(1), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await runLion(['hook', 'terminal', '--run-id', run.runId, '--status', 'completed'], world);
      await run.process.stop();
      await waitUntil('the supervisor to have seen it', () => supervisor.said().includes('has ended'));
      await sleep(1_500);
      expect(endOf(run)).toMatchObject({ status: 'completed', terminal_source: 'cli_terminal_hook' });
      expect(notifier.calls()).toHaveLength(1);
    });
  });

  it('a store that is taken away and made again is looked after again', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      const supervisor = await startSupervisor(world);
      rmSync(world.jobs, { recursive: true });
      await sleep(1_500);
      const run = await layGone(world, runIdOf(2));
      await ended(run);
      expect(supervisor.isRunning()).toBe(true);
    });
  });
});

describe.concurrent('nothing a run does stops the supervisor', () => {
  it('a broken record, a FIFO as job.json and a hung li beside it: the others are looked after all the same', async () => {
    await inWorld(async (world) => {
      const li = makeLi(world, `if run == ${JSON.stringify(runIdOf(1))}: time.sleep(600)`);
      const hung = await layGone(world, runIdOf(1));
      for (const n of [2, 3]) mkdirSync(join(world.jobs, runIdOf(n)));
      writeFileSync(join(world.jobs, runIdOf(2), 'job.json'), '{"run_id": ');
      execFileSync('mkfifo', [join(world.jobs, runIdOf(3), 'job.json')]);
      const live = await layLive(world, runIdOf(4));
      const supervisor = await startSupervisor(world);
      await waitUntil('li to hang', () => li.calls().some((call) => call.run === hung.runId));
      await live.process.stop();
      await ended(live);
      expect(endOf(live)).toEqual(REAPED);
      expect(hung.record().get('finished_at')).toBeNull();
      expect(supervisor.isRunning()).toBe(true);
      // A second signal does not wait for it, and takes it along.
      supervisor.signal('SIGTERM');
      await waitUntil('it to be stopping', () => supervisor.said().includes('stopping'));
      const end = await supervisor.end('SIGTERM');
      expect(end.ms).toBeLessThan(5_000);
      await waitUntil('li to be gone', () => li.calls().every(({ pid }) => !isThere(pid)));
    });
  });

  it('a run that cannot be written is said to be refused, stays open, and is ended when it can be', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      mkdirSync(join(run.dir, 'job.lock'));
      const supervisor = await startSupervisor(world);
      await waitUntil('it to be refused', () => supervisor.said().includes('lock_unavailable'));
      expect([run.record().get('finished_at'), notifier.calls()]).toEqual([null, []]);
      rmSync(join(run.dir, 'job.lock'), { recursive: true });
      await ended(run);
      await waitUntil('its notice', () => noticeOf(run).ok === true);
      expect(notifier.calls()).toHaveLength(1);
    });
  });

  it('a log that takes no more, as on a full disk, does not take it down', async () => {
    await inWorld(async (world) => {
      mkdirSync(join(world.lionagiHome, 'mcp', 'liond'), { recursive: true });
      symlinkSync('/dev/full', join(world.lionagiHome, 'mcp', 'liond', 'liond.log'));
      const live = await layLive(world, runIdOf(1));
      const supervisor = spawnSupervisor(world);
      await waitUntil('it to look', () => supervisor.said().includes('not ended') || !supervisor.isRunning());
      await live.process.stop();
      await waitUntil('the run to be ended, or the supervisor', () =>
        [live.record().get('finished_at') !== null, !supervisor.isRunning()].some(Boolean),
      );
      expect([supervisor.isRunning(), supervisor.complained()]).toEqual([
        true,
        expect.not.stringMatching(/\n\s+at /),
      ]);
      expect(endOf(live)).toEqual(REAPED);
    });
  });

  it('whoever looked on goes away: it goes on', async () => {
    await inWorld(async (world) => {
      const supervisor = await startSupervisor(world);
      supervisor.lookAway();
      for (const n of [1, 2]) await ended(await layGone(world, runIdOf(n)));
      expect(supervisor.isRunning()).toBe(true);
      expect((await supervisor.end('SIGTERM')).exitCode).toBe(0);
    });
  });
});

describe.concurrent('the supervisor is stopped', () => {
  it('SIGTERM lets the notice on its way finish, then ends: exit 0, and no run ends with it', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(3)');
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const live = await layLive(world, runIdOf(2));
      const supervisor = await startSupervisor(world);
      await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
      const { exitCode, ms } = await supervisor.end('SIGTERM');
      expect([exitCode, ms < 40_000]).toEqual([0, true]);
      expect(supervisor.said()).toMatch(/stopping \(SIGTERM\)[\s\S]*\nstopped\n$/);
      expect(noticeOf(run)).toMatchObject({ attempted: true, ok: true, exit_code: 0, attempts: 1 });
      expect(isThere(live.process.pid)).toBe(true);
      expect(live.record().get('finished_at')).toBeNull();
    });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s: idle it ends at once', async (signal) => {
    await inWorld(async (world) => {
      await layLive(world, runIdOf(1));
      const supervisor = await startSupervisor(world);
      const { exitCode, ms } = await supervisor.end(signal);
      expect([exitCode, ms < 6_000]).toEqual([0, true]);
    });
  });

  it('what it takes up no more after SIGTERM is found by the next one', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(2)');
      await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const live = await layLive(world, runIdOf(2));
      const supervisor = await startSupervisor(world);
      await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
      const stopping = supervisor.end('SIGTERM');
      await waitUntil('it to be stopping', () => supervisor.said().includes('stopping'));
      await live.process.stop();
      await stopping;
      expect(live.record().get('finished_at')).toBeNull();
      await startSupervisor(world);
      await ended(live);
      expect(endOf(live)).toEqual(REAPED);
    });
  });

  it('SIGTERM begins nothing that had not begun, however much there is to do: it is stopped within its bound', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(2)');
      for (let n = 1; n <= 60; n++) await layGone(world, runIdOf(n), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await waitUntil('notices to be on their way', () => notifier.calls().length >= 4);
      const signalled = Date.now() / 1000;
      const { exitCode } = await supervisor.end('SIGTERM');
      expect(exitCode).toBe(0);
      // A start under way when the signal came may still show; a second later nothing new does.
      expect(notifier.calls().filter((call) => call.at > signalled + 1)).toEqual([]);
      expect(notifier.calls().length).toBeLessThan(60);
    });
  });

  it('a second signal does not wait: the notice is ended with it, and its outcome is unknown', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', 'time.sleep(25)');
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
      supervisor.signal('SIGTERM');
      await waitUntil('it to be stopping', () => supervisor.said().includes('stopping'));
      const { ms } = await supervisor.end('SIGTERM');
      expect(ms).toBeLessThan(5_000);
      expect(noticeOf(run)).toMatchObject({ attempted: true, ok: null, attempts: 1 });
      const [{ pid } = { pid: 0 }] = notifier.calls();
      await waitUntil('the notifier to be gone', () => !isThere(pid));
      expect(await askData(world, ['job', 'status', run.runId])).toMatchObject({
        notify_delivery_state: 'unknown',
      });
    });
  });

  it('kill -9 leaves nothing that blocks the next start, which looks after the store as before', async () => {
    await inWorld(async (world) => {
      const live = await layLive(world, runIdOf(1));
      const gone = await layGone(world, runIdOf(2));
      const first = await startSupervisor(world);
      await ended(gone);
      const text = gone.text();
      expect((await first.end('SIGKILL')).signal).toBe('SIGKILL');
      const second = await startSupervisor(world);
      await live.process.stop();
      await ended(live);
      expect(endOf(live)).toEqual(REAPED);
      expect(gone.text()).toBe(text);
      expect(second.complained()).toBe('');
      expect(readdirSync(gone.dir).sort()).toEqual(['job.json', 'job.lock']);
    });
  });
});

describe('a supervisor beside others', () => {
  it('a reader, a hook and a supervisor at once write one end and make one attempt', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = await layLive(world, runIdOf(1), { notify_command: notifier.command });
      await startSupervisor(world);
      await run.process.stop();
      await Promise.all([
        runLion(['job', 'status', run.runId], world),
        runLion(['job', 'list'], world),
        runLion(['hook', 'terminal', '--run-id', run.runId], world),
      ]);
      await waitUntil('the notice to be settled', () => noticeOf(run)?.ok === true);
      await sleep(1_500);
      expect(notifier.calls()).toHaveLength(1);
    });
  });
});

describe('design 7: it never floods', () => {
  it('runs at most 8 notifiers at a time, however many runs end at once', async () => {
    await inWorld(async (world) => {
      const running = join(world.root, 'running');
      mkdirSync(running);
      const body = `
os.chdir(${JSON.stringify(running)})
open(str(os.getpid()), "w").close()
time.sleep(0.7)
with open("../seen", "a") as seen: seen.write(f"{len(os.listdir())}\\n")
os.unlink(str(os.getpid()))`;
      const notifier = makeNotifier(world, 'notifier', body);
      const runs = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          layGone(world, runIdOf(n + 1), { notify_command: notifier.command }),
        ),
      );
      await startSupervisor(world);
      await waitUntil('all notices', () => runs.every((run) => noticeOf(run)?.ok === true), 60_000);
      const seen = readFileSync(join(world.root, 'seen'), 'utf8').trim().split('\n').map(Number);
      expect(seen).toHaveLength(20);
      expect(Math.max(...seen)).toBeLessThanOrEqual(8);
    });
  });
});

describe.concurrent('what it tells of', () => {
  const SECRET = 'SECRET-4f1c';

  it('its log and its words hold no argv, no label, no environment and nothing a notifier said', async () => {
    await inWorld(async (world) => {
      makeLi(world, `print("${SECRET}"); print("${SECRET}", file=sys.stderr)`);
      const notifier = makeNotifier(
        world,
        'notifier',
        `print("${SECRET}"); print("${SECRET}", file=sys.stderr); sys.exit(len(noted["args"][0]) % 2)`,
        [SECRET, '{label}'],
      );
      world.env.LIONAGI_MCP_NOTIFY_TARGET = SECRET;
      const members = {
        label: SECRET,
        argv: ['li', 'agent', SECRET],
        kind: SECRET,
        status: SECRET,
        reason: SECRET,
        cwd: world.cwd,
        notify_command: notifier.command,
      };
      const runs = await Promise.all([1, 2].map((n) => layGone(world, runIdOf(n), members)));
      layAdvisory(world, runIdOf(3), members);
      layEnded(world, runIdOf(4), SECRET, members);
      mkdirSync(join(world.jobs, runIdOf(5)));
      writeFileSync(join(world.jobs, runIdOf(5), 'job.json'), `{"label": "${SECRET}`);
      const supervisor = await startSupervisor(world);
      await waitUntil('the notices', () => runs.every((run) => noticeOf(run)?.attempts === 1));
      await waitUntil(
        'the notices to be told of',
        () => (supervisor.said().match(/notice:/g)?.length ?? 0) >= 2,
      );
      await supervisor.end('SIGTERM');
      const told = [supervisorLog(world), supervisor.said(), supervisor.complained()].join('\n');
      expect(told).toContain(runIdOf(1));
      expect(told).not.toContain(SECRET);
    });
  });

  it('an end that another program wrote is told without repeating what that program put there', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, runIdOf(1));
      const supervisor = await startSupervisor(world);
      replaceRecord(run, {
        status: 'completed',
        finished_at: new Date().toISOString(),
        terminal_source: `${SECRET}\u001b[31m\u202e`,
      });
      await waitUntil('it to be told of', () => supervisor.said().includes('has ended'));
      await supervisor.end('SIGTERM');
      expect(supervisorLog(world) + supervisor.said()).not.toContain(SECRET);
      expect(hostileBits(supervisor.said())).toEqual([]);
    });
  });

  it('the name of a directory cannot steer the terminal of whoever looks on', async () => {
    await inWorld(async (world) => {
      await layGone(world, `${runIdOf(1)}-\u001b[31m\u202e\n\u0007`);
      const supervisor = await startSupervisor(world);
      await waitUntil('it to be told of', () => supervisor.said().includes('has ended'));
      expect(hostileBits(supervisor.said())).toEqual([]);
      expect(supervisor.said().split('\n').filter(Boolean)).toHaveLength(3);
    });
  });

  it('its log is one JSON object a line, the last word of a stop included', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, runIdOf(1));
      const supervisor = await startSupervisor(world);
      endNow(run, 'completed');
      await waitUntil('it to be told of', () => supervisor.said().includes('has ended'));
      await supervisor.end('SIGTERM');
      const events = supervisorLog(world)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).event);
      expect(events).toEqual(['started', 'scanned', 'ended', 'stopping', 'stopped']);
    });
  });
});
