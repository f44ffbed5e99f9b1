/**
 * A live run is never declared dead. Every way of living and of being recorded is laid into one store, which is
 * then judged from every place, alone and two at a time; no record changes by a byte.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goneIdentity, type LaidRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { startExecuting, startLeaderless } from '../support/live-runs.ts';
import { inMounts, whyNoNamespaces, whyNoTimeNamespace } from '../support/namespaces.ts';
import { freeNumber, startNested } from '../support/nested-runs.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeWorld, type World } from '../support/world.ts';
import { type Answers, ask } from './ask.ts';
import {
  AS_OWNER,
  AS_ROOT,
  JUDGE_PAIRS,
  JUDGES,
  type Judge,
  layersOf,
  type Makings,
  UNDER_ANOTHER_BOOT_ID,
} from './judges.ts';
import { asRecorded, LIVE_CONDITIONS, type LiveCondition } from './live-conditions.ts';
import { layOwned, namesIn } from './owned-store.ts';
import { makeStubLi, type StubLi } from './stub-li.ts';
import { leastTasks, tasksOf } from './task-limit.ts';

/** Nobody else's, so that what counts against a user's tasks is ours alone. */
const [OWNER, OTHER] = [54_321, 54_322];

interface LiveRun {
  condition: LiveCondition;
  run: LaidRun;
  bytes: string;
}

const count = { conditions: 0, pairs: 0, checks: 0, falseEnds: 0 };
const stops: (() => Promise<void>)[] = [];
const runs: LiveRun[] = [];
let laid = 0;
let world: World;
let li: StubLi;
let makings: Makings;

const newId = () => `20260101T000000-${(laid++).toString(16).padStart(6, '0')}`;

async function layLive(condition: LiveCondition): Promise<LiveRun> {
  const runId = newId();
  const lived = await condition.start({ mark: runId, uid: OWNER });
  stops.push(lived.stop);
  const run = layOwned(world, runId, lived.members, OWNER);
  return { condition, run, bytes: run.text() };
}

/** It has the `/proc` of an inner pid namespace among its mounts. */
async function startInnerMounts(): Promise<number> {
  const inside = ['-p', '-f', '--kill-child', '--mount-proc', 'sleep', '3600'];
  const child = spawn('unshare', inside, { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  stops.push(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const mounts = () => readFileSync(`/proc/${pid}/mounts`, 'utf8').split('\n');
  await waitUntil(
    'the second /proc',
    () => mounts().filter((line) => line.includes(' /proc proc ')).length > 1,
  );
  return pid;
}

interface Judged {
  problems: string[];
  answers: Map<string, Answers>;
}

/** Asks from there, and tells everything that is wrong with what it is told. */
async function judgedFrom(
  judge: Judge,
  those: readonly LiveRun[],
  singly: readonly LiveRun[],
): Promise<Judged> {
  li.forget();
  const asking = { statusOf: singly.map(({ run }) => run), atOnce: judge.cramped ? 1 : 3 };
  const { answers, failures } = await ask(
    those.map(({ run }) => run),
    callFrom(judge),
    asking,
  );
  const problems = judge.cramped ? failures.filter((failure) => !failure.includes('no envelope')) : failures;
  for (const live of those) {
    const found = problemsWith(live, answers.get(live.run.runId));
    if (found.length > 0) problems.push(`${live.condition.name}: ${found.join('; ')}`);
    restore(live);
  }
  return { problems, answers };
}

function callFrom(judge: Judge) {
  const through = layersOf(judge, makings);
  return { env: li.env, cwd: world.cwd, through, ...(judge.cramped ? { withinMs: 5_000 } : {}) };
}

function problemsWith({ run, bytes }: LiveRun, answers: Answers | undefined): string[] {
  const { status, row, entry, bucket } = answers ?? {};
  const told = Object.entries({ status, row, entry }).filter(([, answer]) => answer !== undefined);
  count.checks += told.length;
  const ended = told.filter(([, answer]) => answer.terminal !== false).map(([verb]) => verb);
  const isEnded = ended.length > 0 || run.record().get('finished_at') !== null;
  if (isEnded) count.falseEnds += 1;
  if (isEnded) return [`ENDED, as ${ended} say: ${findingOf(run)}`];
  const problems = told.flatMap(([verb, answer]) => openProblems(verb, answer));
  if (status?.liveness_conclusion === 'process_gone') problems.push('concluded that its process is gone');
  const words = new Set(told.map(([, answer]) => answer.status));
  if (words.size > 1) problems.push(`the verbs do not agree: ${[...words]}`);
  const wanted = entry?.possibly_orphaned ? 'stopped_without_end' : 'pending';
  if (entry !== undefined && bucket !== wanted) problems.push(`in bucket ${bucket}, wanted ${wanted}`);
  if (run.text() !== bytes) problems.push(`the record was changed to ${run.text().slice(-400)}`);
  const names = namesIn(run);
  if (names.join() !== 'job.json') problems.push(`left in its directory: ${names}`);
  return problems;
}

function findingOf(run: LaidRun): string {
  const evidence = run.record().get('terminal_evidence');
  return evidence instanceof Map ? String(evidence.get('finding')) : 'with nothing on the record';
}

// biome-ignore lint/suspicious/noExplicitAny: an answer of any verb
function openProblems(verb: string, answer: any): string[] {
  if (answer.outcome !== null || answer.reason_code !== null) return [`${verb} names an outcome`];
  const fits = answer.possibly_orphaned ? answer.status === 'exited' : answer.status === 'running';
  return fits ? [] : [`${verb} shows it as ${answer.status}, possibly orphaned: ${answer.possibly_orphaned}`];
}

/** What a place sees of a run is said by one word, where we know which. */
function misnamed(judge: Judge, { condition, run }: LiveRun, answers: Map<string, Answers>): string[] {
  const status = answers.get(run.runId)?.status;
  const known = judge === AS_ROOT ? condition.seenByRoot : judge === AS_OWNER ? condition.seenByOwner : null;
  const [plain, ticked] = LIVE_CONDITIONS;
  const here = condition === plain ? judge.seesPlain : condition === ticked ? judge.seesTicked : null;
  const wanted = known ?? here ?? null;
  if (wanted === null || status === undefined || status.pid_identity === wanted) return [];
  return [`${condition.name}: pid_identity ${status.pid_identity}, wanted ${wanted}`];
}

/** A run that was ended falsely must not spoil what is judged next. */
function restore({ run, bytes }: LiveRun): void {
  if (run.text() !== bytes) writeFileSync(run.recordFile, bytes);
}

/** Whether a run whose process is really gone is ended from there: that the others stay open is no accident. */
async function endsGone(judge: Judge): Promise<boolean> {
  const runId = newId();
  const run = layOwned(world, runId, await goneIdentity(), OWNER);
  await runLion(['job', 'status', runId, '--machine'], callFrom(judge));
  const ended = run.record().get('terminal_source') === 'mcp_orphan_reaper';
  rmSync(run.dir, { recursive: true });
  return ended;
}

const why = whyNoNamespaces();
const whyNotIn = ({ name }: Judge) => (name.includes('time namespace') ? whyNoTimeNamespace() : null);

describe.skipIf(why !== null)(`a live run${why === null ? '' : ` (skipped: ${why})`}`, () => {
  beforeAll(async () => {
    world = await makeWorld();
    li = makeStubLi(world);
    for (const condition of LIVE_CONDITIONS) {
      runs.push(await layLive(condition));
      count[condition.pair ? 'pairs' : 'conditions'] += 1;
    }
    const least = await leastTasks(world, li, OTHER);
    makings = {
      directory: world.work,
      cwd: world.cwd,
      owner: OWNER,
      other: OTHER,
      innerMounts: await startInnerMounts(),
      taskLimit: (uid) => tasksOf(uid) + least,
    };
  });

  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
    expect(await world.dispose()).toEqual([]);
    const { conditions, pairs, checks, falseEnds } = count;
    process.stdout.write(
      `hostile, live runs: ${conditions} conditions, ${pairs} pairs, ${checks} checks, ${falseEnds} false ends\n`,
    );
  });

  for (const judge of JUDGES) {
    it(`stays open, judged ${judge.name}`, async ({ skip }) => {
      skip(whyNotIn(judge) !== null, whyNotIn(judge) ?? '');
      count.conditions += 1;
      count.pairs += LIVE_CONDITIONS.filter((condition) => !condition.pair).length;
      const isUsual = judge === AS_ROOT || judge === AS_OWNER;
      const singly = runs.filter(({ condition }) => isUsual || !condition.pair);
      const { problems, answers } = await judgedFrom(judge, runs, singly);
      expect([...problems, ...runs.flatMap((live) => misnamed(judge, live, answers))]).toEqual([]);
    });

    if (judge.endsGone === null) continue;
    it(`${judge.endsGone ? 'does not hide a gone one' : 'and a gone one stay open'}, judged ${judge.name}`, async ({
      skip,
    }) => {
      skip(whyNotIn(judge) !== null, whyNotIn(judge) ?? '');
      expect(await endsGone(judge)).toBe(judge.endsGone);
    });
  }

  it('stays open with a task table that is really full: the lifecycle store could not be asked', async () => {
    const full = JUDGES.find(({ cramped }) => cramped) as Judge;
    expect((await judgedFrom(full, runs, [])).problems).toEqual([]);
    expect(li.asked()).toEqual([]);
    await judgedFrom(AS_ROOT, runs, []);
    expect(li.asked()).not.toEqual([]);
  });

  for (const judge of JUDGE_PAIRS) {
    it(`stays open, judged ${judge.name}`, async ({ skip }) => {
      skip(whyNotIn(judge) !== null, whyNotIn(judge) ?? '');
      count.pairs += 1;
      expect((await judgedFrom(judge, runs, runs.slice(0, 1))).problems).toEqual([]);
    });
  }

  describe('that is hard to see', () => {
    const clockStep = JUDGES.find(({ name }) => name.endsWith('+1 s')) as Judge;

    async function alone(start: LiveCondition['start']): Promise<LiveRun> {
      return layLive({ ...(LIVE_CONDITIONS[0] as LiveCondition), start });
    }

    it('stays open under another boot id, where the number is its own or another is in an inner namespace', async () => {
      const seen = runs.filter(({ condition: { seenByRoot } }) =>
        /^(confirmed|mark_contradicts|in_other_namespace)$/.test(seenByRoot),
      );
      count.conditions += 1;
      count.pairs += seen.length;
      expect((await judgedFrom(UNDER_ANOTHER_BOOT_ID, seen, [])).problems).toEqual([]);
    });

    it('stays open while it executes another program, with the clock stepped', async () => {
      const live = await alone((living) => asRecorded(startExecuting(living)));
      count.pairs += 1;
      for (let looks = 0; looks < 6; looks += 1) {
        const { problems } = await judgedFrom(clockStep, [live], [live]);
        // Between two programs nothing can be read: what is said of it may differ from look to look.
        expect(problems.filter((problem) => !problem.includes('do not agree'))).toEqual([]);
      }
    });

    it.for([AS_ROOT, AS_OWNER])(
      'stays open in a namespace below the one it was started from: $name',
      async (judge) => {
        const live = await alone((living) =>
          asRecorded(startNested(living, { number: freeNumber(), deeper: true })),
        );
        count.conditions += judge === AS_ROOT ? 1 : 0;
        expect((await judgedFrom(judge, [live], [live])).problems).toEqual([]);
      },
    );

    it('stays open where it lives on in a thread whose state may not be read', async () => {
      const mask = join(world.work, 'mask');
      writeFileSync(mask, '');
      chmodSync(mask, 0);
      let stat = '';
      const live = await alone(async (living) => {
        const lived = await asRecorded(startLeaderless(living));
        const thread = readdirSync(`/proc/${lived.pid}/task`).find((task) => task !== String(lived.pid));
        stat = `/proc/${lived.pid}/task/${thread}/stat`;
        return lived;
      });
      const masked: Judge = {
        ...AS_OWNER,
        parts: { proc: () => inMounts('mount --bind "$1" "$2"', [mask, stat]) },
      };
      count.conditions += 1;
      expect((await judgedFrom(masked, [live], [live])).problems).toEqual([]);
    });
  });
});
