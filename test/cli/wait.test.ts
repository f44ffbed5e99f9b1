import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openEngine } from '../../shared/engine.ts';
import { waitForRuns } from '../../shared/run/wait.ts';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { isThere } from '../support/processes.ts';
import { startPythonWriter } from '../support/python-writer.ts';
import {
  endNow,
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  runIdOf,
  secondsAgo,
} from '../support/runs-of-all-sorts.ts';
import { makeLi } from '../support/stand-ins.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const [RUN, OTHER, THIRD] = [1, 2, 3].map(runIdOf) as [string, string, string];

interface Waiting {
  readonly child: ChildProcess;
  /** From its start; resolves when it has ended and its output is all there. */
  readonly end: Promise<{ code: number | null; stdout: string; stderr: string; ms: number }>;
}

/** `lion job wait` under way, with everything open that a signal could hit. */
function startWaiting(world: World, args: readonly string[]): Waiting {
  const began = performance.now();
  const child = spawn(process.execPath, [LION_MAIN, 'job', 'wait', ...args], {
    env: world.env,
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
  });
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  const end = once(child, 'close').then(([code]) => ({
    code,
    stdout,
    stderr,
    ms: performance.now() - began,
  }));
  return { child, end };
}

/** When it has begun to wait: it watches a run's directory and has come to rest. */
async function isWaiting({ child }: Waiting): Promise<void> {
  const proc = `/proc/${child.pid}`;
  let [ticks, since] = ['', performance.now()];
  await waitUntil('the wait to have begun', () => {
    const now = quietly(() => readFileSync(`${proc}/stat`, 'utf8').split(' ').slice(13, 17).join());
    if (now !== ticks) [ticks, since] = [now, performance.now()];
    return quietly(() => String(watchesOf(proc))) > '0' && performance.now() - since > 300;
  });
}

function watchesOf(proc: string): number {
  return readdirSync(`${proc}/fdinfo`)
    .map((fd) => readFileSync(`${proc}/fdinfo/${fd}`, 'utf8').match(/^inotify /gm)?.length ?? 0)
    .reduce((sum, each) => sum + each, 0);
}

function quietly(look: () => string): string {
  try {
    return look();
  } catch {
    return ''; // a descriptor closed, or the process ended, while it was looked at
  }
}

describe('lion job wait wakes on a change', () => {
  it('an end written by another program 300 ms after it began is told long before a poll of 60 s', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const python = await startPythonWriter();
      world.onDispose(python.stop);
      const waiting = startWaiting(world, [RUN, '--machine', '--max-wait', '60', '--poll-interval', '60']);
      await isWaiting(waiting);
      await python.ask({
        do: 'merge',
        run_dir: run.dir,
        delay_s: 0.3,
        set: { status: 'completed', finished_at: secondsAgo(0), terminal_source: 'cli_terminal_hook' },
      });
      const written = performance.now();
      const { code, stdout } = await waiting.end;
      expect(performance.now() - written).toBeLessThan(10_000);
      expect(code).toBe(0);
      const { data } = JSON.parse(stdout);
      expect(data).toMatchObject({ all_terminal: true, timed_out: false, pending: [], poll_interval: 60 });
      expect(data.runs[0]).toMatchObject({ run_id: RUN, terminal: true, outcome: 'succeeded' });
    });
  });

  it('an end written just before its watch began is told before a poll of 8 s too', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
      let looks = 0;
      // The real table; the end is on disk after the record was read and before anything watches it.
      const processes = {
        ...engine.processes,
        sight: (pid: number) => {
          const sighting = engine.processes.sight(pid);
          if (looks++ === 0) endNow(run, 'completed');
          return sighting;
        },
      };
      const began = performance.now();
      const request = { ids: [RUN], maxWaitS: 30, pollIntervalS: 8, any: false };
      const result = await waitForRuns({ ...engine, processes }, request);
      expect(result.entries[0]?.bucket).toBe('terminal');
      expect(performance.now() - began).toBeLessThan(5_000);
    });
  });

  it('a run that was named by what only it ends with wakes it too', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
      let looks = 0;
      const processes = {
        ...engine.processes,
        sight: (pid: number) => {
          looks++;
          return engine.processes.sight(pid);
        },
      };
      const request = { ids: [RUN.slice(-6)], maxWaitS: 30, pollIntervalS: 8, any: false };
      const waiting = waitForRuns({ ...engine, processes }, request);
      await waitUntil('it to have looked', () => looks > 0);
      await sleep(500);
      const ended = performance.now();
      endNow(run, 'completed');
      expect((await waiting).entries[0]?.bucket).toBe('terminal');
      expect(performance.now() - ended).toBeLessThan(4_000);
    });
  });

  it('a process that dies without a word is found by the poll, ended and told as indeterminate', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const waiting = startWaiting(world, [RUN, '--machine', '--max-wait', '60', '--poll-interval', '0.2']);
      await isWaiting(waiting);
      await run.process.stop();
      const { code, stdout, ms } = await waiting.end;
      expect([code, ms < 30_000]).toEqual([0, true]);
      expect(JSON.parse(stdout).data).toMatchObject({
        all_terminal: true,
        runs: [{ terminal: true, outcome: 'indeterminate', reason_code: 'process_gone_without_outcome' }],
      });
    });
  });
});

describe('ADR-0106 D10: observing does not touch the run', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends the wait and leaves the run exactly as it was',
    async (signal) => {
      await inWorld(async (world) => {
        const run = await layLive(world, RUN);
        const before = run.text();
        const waiting = startWaiting(world, [RUN]);
        await isWaiting(waiting);
        waiting.child.kill(signal);
        const { code, stdout, stderr } = await waiting.end;
        expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
        expect(stdout).toContain('still running');
        expect(stderr).not.toMatch(/\n\s+at /);
        expect(run.text()).toBe(before);
        expect(isThere(run.process.pid)).toBe(true);
      });
    },
  );

  it('interrupted under --machine it tells what it learned, and exits 0', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      layEnded(world, OTHER, 'completed');
      const waiting = startWaiting(world, [
        RUN,
        OTHER,
        '--machine',
        '--max-wait',
        '60',
        '--poll-interval',
        '60',
      ]);
      await isWaiting(waiting);
      waiting.child.kill('SIGINT');
      const { code, stdout } = await waiting.end;
      expect(code).toBe(0);
      expect(JSON.parse(stdout).data).toMatchObject({ pending: [RUN], all_terminal: false });
    });
  });

  it('a caller that is killed, or whose pipe is closed, leaves the run exactly as it was', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const before = run.text();
      const killed = startWaiting(world, [RUN]);
      await isWaiting(killed);
      killed.child.kill('SIGKILL');
      await killed.end;
      const closed = startWaiting(world, [RUN, '--max-wait', '1']);
      closed.child.stdout?.destroy();
      const { code, stderr } = await closed.end;
      expect([typeof code, stderr]).toEqual(['number', '']);
      expect(run.text()).toBe(before);
      expect(isThere(run.process.pid)).toBe(true);
    });
  });

  it('a window that closes leaves the run as it was, and its answer keeps what was learned', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      layEnded(world, OTHER, 'failed');
      const before = run.text();
      const data = await askData(world, ['job', 'wait', RUN, OTHER, '--max-wait', '0.5']);
      expect(data).toMatchObject({ timed_out: true, all_terminal: false, pending: [RUN] });
      expect(data.runs[1]).toMatchObject({ terminal: true, outcome: 'failed' });
      expect(run.text()).toBe(before);
    });
  });
});

describe('ADR-0106 D10: one entry for each id, in input order, and four disjoint buckets', () => {
  it('every observed id is in exactly one bucket, and every entry carries what D4 and D10 ask of it', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      await layLive(world, runIdOf(2));
      layAdvisory(world, runIdOf(3));
      layPreparing(world, runIdOf(4), 5);
      layPreparing(world, runIdOf(5), 601);
      await layGone(world, runIdOf(6));
      const ids = [5, 3, 1, 6, 4, 2, 5].map(runIdOf);
      const data = await askData(world, ['job', 'wait', '--max-wait', '0', ...ids]);
      expect(data.runs.map((entry: { run_id: string }) => entry.run_id)).toEqual(ids);
      for (const entry of data.runs)
        expect(Object.keys(entry)).toEqual(
          expect.arrayContaining(['run_id', 'kind', 'status', 'terminal', 'outcome', 'reason_code']),
        );
      const terminal = data.runs.filter((entry: { terminal: boolean }) => entry.terminal);
      expect(terminal.map((entry: { run_id: string }) => entry.run_id)).toEqual([1, 6].map(runIdOf));
      expect(data).toMatchObject({
        pending: [4, 2].map(runIdOf),
        stopped_without_end: [runIdOf(3)],
        unresolved_spawn: [runIdOf(5), runIdOf(5)],
        unresolved_spawn_after: 600,
        all_terminal: false,
        timed_out: true,
      });
    });
  });

  it('all_terminal is true when every run has an end, indeterminate ones too, and waits for nothing', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'failed');
      await layGone(world, OTHER);
      const data = await askData(world, ['job', 'wait', RUN, OTHER, '--poll-interval', '30']);
      expect(data).toMatchObject({ all_terminal: true, timed_out: false });
    });
  });

  it('an unknown id is an error of its own and holds up no other', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      const data = await askData(world, ['job', 'wait', 'nobody', RUN]);
      expect(data.runs.map((entry: { error: unknown }) => entry.error !== null)).toEqual([true, false]);
      expect([data.all_terminal, data.timed_out, data.pending]).toEqual([false, false, []]);
    });
  });
});

describe('ADR-0106 D10: bounds are clamped, and the effective values are echoed beside what was asked', () => {
  it.each([
    [
      ['--max-wait', '-5', '--poll-interval', '0'],
      [0, 0.05, -5, 0],
    ],
    [
      ['--max-wait', '999999', '--poll-interval', '999'],
      [600, 60, 999999, 999],
    ],
    [
      ['--max-wait', '1e2', '--poll-interval', '.5'],
      [100, 0.5, 100, 0.5],
    ],
    [
      ['--max-wait', 'soon', '--poll-interval', 'often'],
      [0, 0.05, 'soon', 'often'],
    ],
    [[], [60, 1, 60, 1]],
  ])('%j', async (options, [maxWait, poll, askedWait, askedPoll]) => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      expect(await askData(world, ['job', 'wait', RUN, ...options])).toMatchObject({
        max_wait: maxWait,
        poll_interval: poll,
        requested_max_wait: askedWait,
        requested_poll_interval: askedPoll,
      });
    });
  });

  it('0 is a snapshot of a running run, at once, and expiry is no error', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      const envelope = await ask(world, ['job', 'wait', RUN, '--max-wait', '0', '--poll-interval', '60']);
      expect(envelope).toMatchObject({ ok: true, data: { timed_out: true, pending: [RUN] } });
    });
  });
});

describe('ADR-0106 D10: an id that waiting cannot resolve does not hold the window, and the call has a floor', () => {
  it('a stopped run costs one poll interval, an aged spawn too, and then they are told apart', async () => {
    await inWorld(async (world) => {
      layAdvisory(world, RUN);
      layPreparing(world, OTHER, 700);
      layEnded(world, THIRD, 'completed');
      const none = await timed(world, [THIRD]);
      const one = await timed(world, [RUN, THIRD]);
      const other = await timed(world, [OTHER]);
      expect(one.data).toMatchObject({ stopped_without_end: [RUN], timed_out: false, all_terminal: false });
      expect(other.data).toMatchObject({ unresolved_spawn: [OTHER], timed_out: false, all_terminal: false });
      for (const { ms } of [one, other]) {
        expect(ms).toBeGreaterThan(2_000);
        expect(ms - none.ms).toBeLessThan(10_000);
      }
    });
  });

  it('the floor is bounded by the window, and a snapshot pays none', async () => {
    await inWorld(async (world) => {
      layAdvisory(world, RUN);
      const snapshot = await timed(world, [RUN], ['--max-wait', '0', '--poll-interval', '60']);
      const bounded = await timed(world, [RUN], ['--max-wait', '1', '--poll-interval', '60']);
      expect(snapshot.data.stopped_without_end).toEqual([RUN]);
      expect(bounded.ms).toBeGreaterThan(1_000);
      expect(bounded.ms).toBeLessThan(20_000);
    });
  });

  it('a call that waited on a running run pays nothing on top', async () => {
    await inWorld(async (world) => {
      layAdvisory(world, RUN);
      const live = await layLive(world, OTHER);
      const li = makeLi(world);
      const waiting = startWaiting(world, [
        RUN,
        OTHER,
        '--machine',
        '--max-wait',
        '60',
        '--poll-interval',
        '15',
      ]);
      await waitUntil('the stopped run to have been looked at', () => li.calls().length === 1);
      await isWaiting(waiting);
      endNow(live, 'completed');
      const { stdout, ms } = await waiting.end;
      expect(JSON.parse(stdout).data).toMatchObject({ stopped_without_end: [RUN], pending: [] });
      expect(ms).toBeLessThan(13_000);
    });
  });

  it('the second look of the floor sees an end that came meanwhile', async () => {
    await inWorld(async (world) => {
      const run = layAdvisory(world, RUN);
      const waiting = startWaiting(world, [RUN, '--machine', '--poll-interval', '3']);
      await sleep(1_500);
      endNow(run, 'completed');
      expect(JSON.parse((await waiting.end).stdout).data).toMatchObject({
        all_terminal: true,
        stopped_without_end: [],
      });
    });
  });

  async function timed(
    world: World,
    ids: readonly string[],
    options: readonly string[] = ['--poll-interval', '2'],
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ): Promise<{ ms: number; data: any }> {
    const began = performance.now();
    const data = await askData(world, ['job', 'wait', ...ids, ...options]);
    return { ms: performance.now() - began, data };
  }
});

describe('lion job wait for a person', () => {
  it('says of each run in words what became of it, the same on a terminal and in a pipe', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      await layGone(world, OTHER);
      await layLive(world, THIRD);
      const args = ['job', 'wait', RUN, OTHER, THIRD, 'nobody', '--max-wait', '0'];
      const { stdout, stderr, exitCode } = await runLion(args, world);
      expect([exitCode, stderr]).toEqual([2, '']);
      expect(stdout.split('\n')).toEqual([
        `${RUN}  completed  succeeded`,
        `${OTHER}  exited  indeterminate  process_gone_without_outcome`,
        `${THIRD}  running  still running`,
        expect.stringMatching(/^nobody {2}not_found: ./),
        '',
      ]);
      const seen = await lionOnTerminal(world, args);
      expect([seen.exitCode, seen.screen]).toEqual([2, stdout]);
    });
  });

  it('text of others cannot steer it', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, HOSTILE_TEXT, { reason_code: HOSTILE_TEXT });
      const { stdout, exitCode } = await runLion(
        ['job', 'wait', RUN, '\u001b[31m\u202e', '--max-wait', '0'],
        world,
      );
      expect(exitCode).toBe(2);
      expect(hostileBits(stdout)).toEqual([]);
      expect(stdout.split('\n').length).toBe(3);
    });
  });

  it('without a window it goes on until the run is over', async () => {
    await inWorld(async (world) => {
      const live = await layLive(world, RUN);
      const waiting = startWaiting(world, [RUN, '--poll-interval', '60']);
      await isWaiting(waiting);
      endNow(live, 'completed');
      const { code, stdout } = await waiting.end;
      expect([code, stdout]).toEqual([0, `${RUN}  completed  succeeded\n`]);
    });
  });

  it('a damaged record among the others is told at once with status 2', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      mkdirSync(join(world.jobs, OTHER));
      writeFileSync(join(world.jobs, OTHER, 'job.json'), '');
      const { exitCode, stdout, ms } = await runLion(['job', 'wait', RUN, OTHER], world);
      expect([exitCode, ms < 30_000]).toEqual([2, true]);
      expect(stdout).toMatch(/still running\n.*unavailable/);
    });
  });
});
