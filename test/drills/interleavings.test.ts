import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { goneIdentity, type LaidRun, layRun } from '../support/lay-run.ts';
import { type LionRun, runLion } from '../support/lion.ts';
import { startSleeper } from '../support/processes.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';
import { faultsOfHistory, type Lane, late, lateness_s, race, rounds } from './race.ts';

/**
 * ADR-0107 Verify by 4, with real processes started together: the first terminal fact stays byte for byte,
 * what does not conflict survives, there is one end and one source.
 */
const ROUNDS = 40;

interface Stage {
  world: World;
  /** How often the notifier ran for a run. */
  notices(run: LaidRun): number;
  lay(index: number, members?: Parameters<typeof layRun>[2]): Promise<LaidRun>;
  lion(args: string[], env?: Record<string, string>): Promise<LionRun>;
}

/** A round that is over: what stands on the record, and what came of whom. */
interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: records of every shape
  record: any;
  faults: string[];
  /** Who ended it, for the tally. */
  by: string;
}

interface Won {
  won: boolean;
}

/** What stood there when Python wrote. */
interface Replaced {
  finished_at: string | null;
  notify_delivery: unknown;
}

async function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  await inWorld(async (world) => {
    const log = join(world.root, 'notices');
    const command = JSON.stringify(['/bin/sh', '-c', `echo "$0" >> '${log}'`, '{run_id}']);
    const logged = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').split('\n') : []);
    await work({
      world,
      notices: (run) => logged().filter((runId) => runId === run.runId).length,
      lay: async (index, members = {}) =>
        layRun(world, `20260801T12${String(index).padStart(4, '0')}-aaaaaa`, {
          ...(await goneIdentity()),
          notify_command: command,
          ...members,
        }),
      lion: (args, env = {}) =>
        runLion([...args, '--machine'], { env: { ...world.env, ...env }, cwd: world.cwd }),
    });
  });
}

/** Holds the rounds; each way to come out that is named must have been seen, or nothing was shown. */
async function holdRounds(
  stage: Stage,
  count: number,
  ways: readonly string[],
  round: (lane: Lane, index: number) => Promise<Outcome>,
): Promise<void> {
  const tally = new Map<string, number>();
  const faults = await rounds(stage.world, count, async (lane, index) => {
    const outcome = await round(lane, index);
    tally.set(outcome.by, (tally.get(outcome.by) ?? 0) + 1);
    return outcome.faults;
  });
  if (process.env.LION_DRILL_TALLY) process.stdout.write(`${JSON.stringify([...tally])}\n`);
  expect(faults).toEqual([]);
  expect([...tally.keys()].sort()).toEqual([...ways].sort());
}

const status = (stage: Stage, run: LaidRun, env?: Record<string, string>): Promise<LionRun> =>
  stage.lion(['job', 'status', run.runId], env);

/** In every other round; Python is the quickest of all and would end most. */
const pythonReap = (lane: Lane, run: LaidRun, index: number): Promise<Won> =>
  index % 2 === 1
    ? Promise.resolve({ won: false })
    : lane.reaper.ask({ do: 'reap', run_dir: run.dir, by: 'python', delay_s: lateness_s(lane) });

/** A write of a program that knows nothing of ends. */
const pythonSet = (lane: Lane, run: LaidRun, set: Record<string, unknown>): Promise<Replaced> =>
  lane.merger.ask({ do: 'merge', run_dir: run.dir, set, delay_s: lateness_s(lane) });

/** On a slow machine every observer may have been refused the lock: the next observation ends the run. */
async function settled(stage: Stage, run: LaidRun, texts: readonly string[]): Promise<string[]> {
  if ((run.record().get('finished_at') ?? null) === null) await status(stage, run);
  return [...texts, run.text()];
}

/** What must hold after any race. */
function outcomeOf(
  run: LaidRun,
  texts: readonly string[],
  answers: readonly LionRun[],
  reaped: Won,
): Outcome {
  const record = JSON.parse(run.text());
  const byPython = record.terminal_evidence?.by === 'python';
  const faults = [...faultsOfHistory(texts), ...answers.flatMap((answer) => faultsOfAnswer(answer, record))];
  if (reaped.won !== byPython) faults.push(`Python ended it: ${reaped.won}, and the record says ${byPython}`);
  return { record, faults, by: byPython ? 'python' : String(record.terminal_source ?? 'nobody') };
}

/** An answer of ours that says a run has ended must say the end that stands. */
function faultsOfAnswer(answer: LionRun, record: Record<string, unknown>): string[] {
  const data = answer.envelope?.data;
  if (answer.envelope?.ok !== true) return [`an answer that is none: ${answer.stdout} ${answer.stderr}`];
  if (!data.terminal) return [];
  return ['finished_at', 'terminal_source', 'status'].flatMap((key) =>
    data[key] === record[key] ? [] : [`answered ${key} ${data[key]}, and ${record[key]} stands`],
  );
}

function expectNotices(stage: Stage, run: LaidRun, count: number): void {
  expect({ runId: run.runId, notices: stage.notices(run) }).toEqual({ runId: run.runId, notices: count });
}

describe('ADR-0107 Verify by 4', () => {
  it('hook against reaper: one end stands, and a hook that lost leaves a late report', () =>
    onStage((stage) => {
      const round = async (lane: Lane, index: number): Promise<Outcome> => {
        const run = await stage.lay(index);
        const report = ['--run-id', run.runId, '--status', 'completed', '--exit-code', '0'];
        const { answers, texts } = await race<[LionRun, LionRun, Won, Replaced]>(lane, run, index, [
          () => late(lane, () => stage.lion(['hook', 'terminal', ...report])),
          () => status(stage, run),
          () => pythonReap(lane, run, index),
          () => pythonSet(lane, run, { note: index }),
        ]);
        const [hooked, answered, reaped] = answers;
        const outcome = outcomeOf(run, texts, [hooked, answered], reaped);
        if (outcome.by === 'cli_terminal_hook') expectHooksEnd(outcome.record);
        else expectLateReport(outcome.record);
        expect(outcome.record.note).toBe(index);
        expectNotices(stage, run, 1);
        return outcome;
      };
      return holdRounds(stage, ROUNDS, ['cli_terminal_hook', 'mcp_orphan_reaper', 'python'], round);
    }));

  it('lifecycle cache against reaper: one end stands, with one source', () =>
    onStage((stage) => {
      const li = join(stage.world.root, 'li');
      writeFileSync(li, `echo '${JSON.stringify(lifecycleAnswer('completed', 1_785_585_900.25))}'`);
      const round = async (lane: Lane, index: number): Promise<Outcome> => {
        const run = await stage.lay(index);
        const { answers, texts } = await race<[LionRun, LionRun, Won, Replaced]>(lane, run, index, [
          () => status(stage, run, { LIONAGI_MCP_LI_BIN: `/bin/sh ${li}` }),
          () => status(stage, run),
          () => pythonReap(lane, run, index),
          () => pythonSet(lane, run, { note: index }),
        ]);
        const [told, untold, reaped] = answers;
        const outcome = outcomeOf(run, await settled(stage, run, texts), [told, untold], reaped);
        if (outcome.by === 'lifecycle_cache') expectCachedEnd(outcome.record);
        else expect(outcome.record).toMatchObject({ outcome: 'indeterminate', status: 'exited' });
        expect(outcome.record.note).toBe(index);
        expectNotices(stage, run, outcome.by === 'mcp_orphan_reaper' ? 1 : 0);
        return outcome;
      };
      return holdRounds(stage, ROUNDS, ['lifecycle_cache', 'mcp_orphan_reaper', 'python'], round);
    }));

  it('pid attachment against reaper: a run that got a live process first is not ended, an end stays', () =>
    onStage(async (stage) => {
      const sleeper = await startSleeper(null);
      stage.world.onDispose(sleeper.stop);
      const live = { pid: sleeper.pid, pid_create_time: sleeper.createTime, pgid: sleeper.pgid };
      await holdRounds(
        stage,
        ROUNDS,
        ['nobody', 'mcp_orphan_reaper', 'python'],
        async (lane, index): Promise<Outcome> => {
          const run = await stage.lay(index);
          const { answers, texts } = await race<[Won, LionRun, Replaced]>(lane, run, index, [
            () => pythonReap(lane, run, index),
            () => status(stage, run),
            () => pythonSet(lane, run, { ...live, spawn_state: 'started' }),
          ]);
          const [reaped, answered, replaced] = answers;
          const outcome = outcomeOf(run, texts, [answered], reaped);
          expect(outcome.record).toMatchObject({ ...live, finished_at: replaced.finished_at });
          expect(outcome.by === 'nobody').toBe(replaced.finished_at === null);
          expectNotices(stage, run, outcome.record.notify_delivery?.attempted ? 1 : 0);
          return outcome;
        },
      );
    }));

  it('pid attachment to a preparing run against reaper: nothing is ended before there was a pid', () =>
    onStage((stage) =>
      holdRounds(stage, ROUNDS / 2, ['mcp_orphan_reaper'], async (lane, index): Promise<Outcome> => {
        const gone = await goneIdentity();
        const attached = {
          pid: Number(gone.pid.text),
          pid_create_time: Number(gone.pid_create_time.text),
          pgid: Number(gone.pgid.text),
        };
        const none = { pid: null, pid_create_time: null, pgid: null, spawn_state: 'preparing' };
        const run = await stage.lay(index, none);
        const { texts } = await race<[LionRun, LionRun, Replaced]>(lane, run, index, [
          () => status(stage, run),
          () => stage.lion(['job', 'list']),
          () => pythonSet(lane, run, { ...attached, spawn_state: 'started' }),
        ]);
        const seen = texts.map((text) => JSON.parse(text));
        expect(seen.filter((each) => each.finished_at !== null && each.pid === null)).toEqual([]);
        const outcome = outcomeOf(run, await settled(stage, run, texts), [], { won: false });
        expect(outcome.record).toMatchObject({ outcome: 'indeterminate', ...attached });
        // The list of the other lane may have ended this run, and be sending its notice still.
        await waitUntil('the notice', () => JSON.parse(run.text()).notify_delivery.ok === true);
        expectNotices(stage, run, 1);
        return outcome;
      }),
    ));

  it('notice result against reaper: the end is not touched, and the result that came last stands', () =>
    onStage((stage) =>
      holdRounds(stage, ROUNDS, ['mcp_orphan_reaper', 'python'], async (lane, index): Promise<Outcome> => {
        const run = await stage.lay(index);
        const result = { attempted: true, ok: true, exit_code: 0, error: null, command: `python ${index}` };
        const { answers, texts } = await race<[Won, LionRun, Replaced]>(lane, run, index, [
          () => pythonReap(lane, run, index),
          () => status(stage, run),
          () => pythonSet(lane, run, { notify_delivery: result }),
        ]);
        const [reaped, answered, replaced] = answers;
        const outcome = outcomeOf(run, await settled(stage, run, texts), [answered], reaped);
        // One from before the end is the next test's.
        if (replaced.finished_at !== null) expect(outcome.record.notify_delivery).toEqual(result);
        expect(stage.notices(run)).toBeLessThanOrEqual(outcome.by === 'python' ? 0 : 1);
        return outcome;
      }),
    ));

  it('notice result before reaper: the result is kept, and the notice is not sent again', () =>
    onStage(async (stage) => {
      const result = new Map<string, boolean | null | string | JsonNumber>([
        ['attempted', true],
        ['ok', true],
        ['exit_code', new JsonNumber('0')],
        ['error', null],
        ['command', 'python'],
      ]);
      const run = await stage.lay(0, { notify_delivery: result });
      await status(stage, run);
      expect(JSON.parse(run.text())).toMatchObject({
        terminal_source: 'mcp_orphan_reaper',
        notify_delivery: { attempted: true, ok: true, command: 'python' },
      });
      expectNotices(stage, run, 0);
    }));
});

function expectHooksEnd(record: Record<string, unknown>): void {
  expect(record).toMatchObject({ status: 'completed', finished_at_precision: 'observed', exit_code: 0 });
  for (const key of ['late_report', 'terminal_evidence', 'outcome']) expect(record).not.toHaveProperty(key);
}

function expectLateReport(record: Record<string, unknown>): void {
  expect(record).toMatchObject({
    status: 'exited',
    outcome: 'indeterminate',
    finished_at_precision: 'upper_bound',
    late_report: { status: 'completed', reason_code: null, exit_code: 0, reported_at: expect.any(String) },
  });
  for (const key of ['cli_status', 'exit_code']) expect(record).not.toHaveProperty(key);
}

function expectCachedEnd(record: Record<string, unknown>): void {
  expect(record).toMatchObject({
    status: 'completed',
    reason_code: 'run.x.y',
    finished_at: '2026-08-01T12:05:00.250000+00:00',
    notify_delivery: { attempted: false, owed: true },
  });
  for (const key of ['terminal_evidence', 'outcome']) expect(record).not.toHaveProperty(key);
}

function lifecycleAnswer(word: string, endedAt: number): object {
  const value = { found: true, terminal: true, status: word, reason_code: 'run.x.y', ended_at: endedAt };
  return { ok: true, data: { lifecycle: { available: true, value } } };
}
