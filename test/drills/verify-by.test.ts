import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { goneIdentity, type LaidRun, layRun } from '../support/lay-run.ts';
import { LION_MAIN, type LionRun, runLion } from '../support/lion.ts';
import { isThere } from '../support/processes.ts';
import { startPythonWriter } from '../support/python-writer.ts';
import { throughStrace, whyNoStrace } from '../support/strace.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** A store with one gone run, whose notifier appends its own pid and the run's id to a file and then does this. */
interface Stage {
  world: World;
  run: LaidRun;
  lion(args: readonly string[], through?: readonly string[]): Promise<LionRun>;
  status(): Promise<LionRun>;
  /** The pids of the notifiers that ran. */
  notifiers(): number[];
  // biome-ignore lint/suspicious/noExplicitAny: records of every shape
  record(): any;
}

async function onStage(notifierDoes: string, work: (stage: Stage) => Promise<void>): Promise<void> {
  await inWorld(async (world) => {
    const log = join(world.root, 'notices');
    const script = `echo "$$ $0" >> '${log}'; ${notifierDoes}`;
    const run = layRun(world, '20260801T120001-aaaaaa', {
      ...(await goneIdentity()),
      notify_command: JSON.stringify(['/bin/sh', '-c', script, '{run_id}']),
    });
    const lion: Stage['lion'] = (args, through = []) =>
      runLion([...args, '--machine'], { env: world.env, cwd: world.cwd, through });
    await work({
      world,
      run,
      lion,
      status: () => lion(['job', 'status', run.runId]),
      notifiers: () => {
        const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
        expect(lines.filter((line) => !line.endsWith(` ${run.runId}`))).toEqual([]);
        return lines.map((line) => Number.parseInt(line, 10));
      },
      record: () => JSON.parse(run.text()),
    });
  });
}

const REAPED = {
  terminal: true,
  outcome: 'indeterminate',
  status: 'exited',
  reason_code: 'process_gone_without_outcome',
  terminal_source: 'mcp_orphan_reaper',
};

describe.concurrent('ADR-0107 Verify by 3: two concurrent observers', () => {
  const PAIRS: [string, string[], string[]][] = [
    ['two of status', ['job', 'status'], ['job', 'status']],
    ['a list and a status', ['job', 'list'], ['job', 'status']],
    ['a wait and a status', ['job', 'wait', '--max-wait', '0'], ['job', 'status']],
  ];
  it.each(PAIRS)(
    'produce one transition and at most one delivery attempt: %s',
    async (_which, one, other) => {
      for (let round = 0; round < 5; round += 1) {
        await onStage('exit 0', async (stage) => {
          const args = (verb: string[]): string[] =>
            verb.includes('list') ? verb : [...verb, stage.run.runId];
          const answers = await Promise.all([stage.lion(args(one)), stage.lion(args(other))]);
          expect(answers.map((answer) => answer.envelope?.ok)).toEqual([true, true]);
          const end = stage.record();
          expect(end).toMatchObject({ outcome: 'indeterminate', terminal_source: 'mcp_orphan_reaper' });
          for (const answer of answers.flatMap(answersIn)) {
            // A list does not wait for the lock: it may have been refused it, and then says so.
            if (answer.terminal) expect(answer).toMatchObject({ ...REAPED, finished_at: end.finished_at });
            else expect(answer.refusal.code).toBe('lock_unavailable');
          }
          expect(stage.notifiers()).toHaveLength(1);
          expect(end.notify_delivery).toMatchObject({ attempted: true, ok: true, attempts: 1 });
        });
      }
    },
  );
});

// biome-ignore lint/suspicious/noExplicitAny: rows, statuses and entries have these keys in common
function answersIn(run: LionRun): any[] {
  const data = run.envelope?.data;
  return data.jobs ?? data.runs ?? [data];
}

describe.concurrent('ADR-0107 Verify by 8: a configured notice is attempted by the observer that won', () => {
  const RESULTS: [string, string, object, string][] = [
    ['success', 'exit 0', { attempted: true, ok: true, exit_code: 0, failure_class: null }, 'delivered'],
    [
      'a refusal',
      'echo "denied by policy" >&2; exit 3',
      { attempted: true, ok: false, exit_code: 3, failure_class: 'refused_by_policy' },
      'failed',
    ],
    [
      'a nonzero exit',
      'exit 7',
      { attempted: true, ok: false, exit_code: 7, failure_class: 'unknown', error: null },
      'failed',
    ],
    [
      'a time-out, after 30 s, with all that the notifier started,',
      'sleep 3600',
      {
        ...{ attempted: true, ok: false, exit_code: null, error: 'TimeoutExpired', failure_class: 'timeout' },
        ...{ delivery_verified: false, unverified_reason: 'delivery_timed_out' },
      },
      'unknown',
    ],
  ];
  it.each(RESULTS)('%s is visible and does not change the outcome', async (_what, does, delivery, state) => {
    await onStage(does, async (stage) => {
      const first = await stage.status();
      expect(first.envelope?.data).toMatchObject({ ...REAPED, notify_delivery_state: state });
      expect(stage.record().notify_delivery).toMatchObject(delivery);
      await waitUntil('the notifier to be gone', () => !stage.notifiers().some(isThere));
      const again = await stage.status();
      const shown = {
        notify_delivery: { available: true, value: delivery },
        finished_at: first.envelope?.data.finished_at,
      };
      expect(again.envelope?.data).toMatchObject({ ...REAPED, ...shown });
      const rows = await stage.lion(['job', 'list']);
      expect(rows.envelope?.data.jobs).toMatchObject([{ ...REAPED, notify_delivery_state: state }]);
      expect(stage.notifiers()).toHaveLength(1);
    });
  });

  it('an observer that crashes after its end was written leaves the attempt visible as unknown', async () => {
    await crashWhileNotifying(async (stage) => {
      const { envelope } = await stage.status();
      expect(envelope?.data).toMatchObject({ ...REAPED, notify_delivery_state: 'unknown' });
      expect(envelope?.data.notify_delivery.value).toMatchObject({
        ...{ attempted: true, ok: null, exit_code: null, error: 'delivery_outcome_unknown', command: null },
        attempts: 1,
      });
    });
  });
});

/** `lion job status` is killed with -9 while its notifier sleeps, which then lives on until the work is done. */
async function crashWhileNotifying(work: (stage: Stage) => Promise<void>): Promise<void> {
  await onStage('exec sleep 3600', async (stage) => {
    const { env, cwd } = stage.world;
    const args = [LION_MAIN, 'job', 'status', stage.run.runId, '--machine'];
    const lion = spawn(process.execPath, args, { env, cwd, stdio: 'ignore' });
    const [notifier = 0] = await waitUntil('the notifier to run', () => {
      const pids = stage.notifiers();
      return pids.length > 0 ? pids : null;
    });
    try {
      await crash(lion);
      expect(isThere(notifier)).toBe(true);
      await work(stage);
      expect(stage.notifiers()).toEqual([notifier]);
    } finally {
      process.kill(notifier, 'SIGKILL');
    }
  });
}

async function crash(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await gone).toEqual([null, 'SIGKILL']);
}

describe.concurrent('ADR-0107 Verify by 12: after a crash between the durable end and its delivery', () => {
  it('reconciliation reads a terminal indeterminate run, and nobody attempts its notice again', async () => {
    await crashWhileNotifying(async (stage) => {
      const written = stage.run.text();
      const looks = await Promise.all([
        stage.status(),
        stage.lion(['job', 'list']),
        stage.lion(['job', 'wait', stage.run.runId, '--max-wait', '1']),
        stage.status(),
      ]);
      for (const answer of looks.flatMap(answersIn)) expect(answer).toMatchObject(REAPED);
      expect(looks[2]?.envelope?.data).toMatchObject({ all_terminal: true, timed_out: false });
      expect(stage.run.text()).toBe(written);
      expect(stage.notifiers()).toHaveLength(1);
    });
  });

  const whyNot = whyNoStrace();
  it.skipIf(whyNot !== null)(
    `with nothing attempted yet, the notice is owed on the record, and no reader sends it${whyNot === null ? '' : ` (skipped: ${whyNot})`}`,
    async () => {
      await onStage('exit 0', async (stage) => {
        // The first rename publishes the end, the second would be the write-ahead of the notice.
        const through = throughStrace('/dev/null', ['rename'], ['-e', 'inject=rename:signal=SIGKILL:when=2']);
        const crashed = await stage.lion(['job', 'status', stage.run.runId], through);
        expect(crashed.stdout).toBe('');
        const written = stage.run.text();
        expect(stage.record()).toMatchObject({
          ...{ outcome: 'indeterminate', terminal_source: 'mcp_orphan_reaper' },
          notify_delivery: { attempted: false, owed: true },
        });
        const looks = [await stage.status(), await stage.lion(['job', 'list']), await stage.status()];
        for (const answer of looks.flatMap(answersIn)) {
          const owed = { notify_delivery_state: 'none', notify_retry_state: 'owed' };
          expect(answer).toMatchObject({ ...REAPED, ...owed, refusal: null });
        }
        expect(stage.run.text()).toBe(written);
        expect(stage.notifiers()).toEqual([]);
      });
    },
  );
});

describe.concurrent('ADR-0107 Verify by 13: with no lock to be had', () => {
  const INJECTIONS: [string, (stage: Stage) => Promise<() => Promise<void>>][] = [
    [
      'its file cannot be made',
      async ({ run }) => {
        const lock = join(run.dir, 'job.lock');
        mkdirSync(lock);
        return async () => rmdirSync(lock);
      },
    ],
    [
      'another holds it',
      async ({ run, world }) => {
        const python = await startPythonWriter();
        world.onDispose(python.stop);
        await python.ask({ do: 'hold', run_dirs: [run.dir] });
        return async () => {
          await python.ask({ do: 'release' });
        };
      },
    ],
  ];
  const VERBS: [string, (stage: Stage) => Promise<LionRun>][] = [
    ['status', (stage) => stage.status()],
    ['list', (stage) => stage.lion(['job', 'list'])],
    ['wait', (stage) => stage.lion(['job', 'wait', stage.run.runId, '--max-wait', '0'])],
  ];

  for (const [why, inject] of INJECTIONS) {
    it.each(VERBS)(`(${why}) the run stays open, unannounced, and %s says why`, async (_verb, ask) => {
      await onStage('exit 0', async (stage) => {
        const before = stage.run.text();
        await inject(stage);
        const [answer] = answersIn(await ask(stage));
        expect(answer).toMatchObject({
          ...{ terminal: false, outcome: null, possibly_orphaned: true },
          refusal: { code: 'lock_unavailable', message: expect.stringMatching(/./) },
        });
        expect(stage.run.text()).toBe(before);
        expect(stage.notifiers()).toEqual([]);
      });
    });

    it(`(${why}) a hook leaves the run open and unannounced, says so in its log and exits 1`, async () => {
      await onStage('exit 0', async ({ run, world, notifiers, ...stage }) => {
        const before = run.text();
        await inject({ run, world, notifiers, ...stage });
        const args = ['hook', 'terminal', '--run-id', run.runId, '--status', 'completed'];
        const hooked = await runLion(args, { env: world.env, cwd: world.cwd });
        expect(hooked).toMatchObject({ exitCode: 1, stdout: '' });
        expect(hooked.stderr).toContain('job.lock');
        expect(run.text()).toBe(before);
        expect(notifiers()).toEqual([]);
        const lines = readFileSync(join(run.dir, 'console.log'), 'utf8').split('\n').filter(Boolean);
        expect(lines).toEqual([
          expect.stringMatching(/^\[lion\] .*its end could not be recorded.*job\.lock/),
        ]);
        expect(lines[0]).toContain('No notice was sent');
      });
    });

    it(`(${why}) the next observation that has the lock ends the run`, async () => {
      await onStage('exit 0', async (stage) => {
        const release = await inject(stage);
        expect((await stage.status()).envelope?.data.terminal).toBe(false);
        await release();
        expect((await stage.status()).envelope?.data).toMatchObject({ ...REAPED, refusal: null });
        expect(stage.notifiers()).toHaveLength(1);
      });
    });
  }
});
