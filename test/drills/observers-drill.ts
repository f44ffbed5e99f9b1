/**
 * Sixteen processes look at the same gone runs at once: eight loops of the built `lion job list` and `lion job
 * status`, a process a call, and eight Python observers that end runs and write a key of their own into each
 * record, in passes that start from either end of the store. What must hold afterwards is in `faultsOf`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JsonNumber, type JsonObject } from '../support/json-tree.ts';
import { goneIdentity, type LaidRun, layRun } from '../support/lay-run.ts';
import { type LionRun, runLion } from '../support/lion.ts';
import { type Observed, type PythonWriter, startPythonWriter } from '../support/python-writer.ts';
import type { World } from '../support/world.ts';

const OBSERVERS_OF_EACH_SIDE = 8;
const PASSES = 3;

/** A row or status of ours that said a run had ended. */
interface SeenEnd {
  runId: string;
  end: string;
}

export interface Drill {
  runs: LaidRun[];
  pythonNames: string[];
  python: Observed[];
  seenEnds: SeenEnd[];
  /** Calls of ours that did not answer as they should. */
  badCalls: string[];
  calls: number;
  /** Run ids, one for each time the notifier ran. */
  notices: string[];
  ms: number;
}

export async function holdDrill(world: World, count: number): Promise<Drill> {
  const log = join(world.root, 'notices');
  const runs = await layGoneRuns(world, count, log);
  const pythonNames = Array.from({ length: OBSERVERS_OF_EACH_SIDE }, (_, index) => `observer_${index}`);
  const writers = await Promise.all(pythonNames.map(() => startPythonWriter()));
  for (const writer of writers) world.onDispose(writer.stop);
  const drill: Drill = {
    runs,
    pythonNames,
    ...{ python: [], seenEnds: [], badCalls: [], calls: 0, notices: [], ms: 0 },
  };
  const began = performance.now();
  let pythonIsDone = false;
  const python = observeAll(writers, drill).finally(() => {
    pythonIsDone = true;
  });
  const isOver = (): boolean => pythonIsDone && runs.every(hasEnd);
  const loops = Array.from({ length: OBSERVERS_OF_EACH_SIDE }, (_, index) =>
    lionLoop(world, drill, index, isOver),
  );
  [drill.python] = await Promise.all([python, ...loops]);
  drill.ms = performance.now() - began;
  drill.notices = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
  return drill;
}

async function layGoneRuns(world: World, count: number, log: string): Promise<LaidRun[]> {
  const notifier = JSON.stringify(['/bin/sh', '-c', `echo "$0" >> '${log}'`, '{run_id}']);
  const runs: LaidRun[] = [];
  for (let index = 0; index < count; index += 1) {
    const runId = `20260801T12${String(index).padStart(4, '0')}-aaaaaa`;
    runs.push(layRun(world, runId, { ...(await goneIdentity()), notify_command: notifier }));
  }
  return runs;
}

/** Half of them go through the store oldest first, half by chance; a list of ours comes from the newest. */
function observeAll(writers: readonly PythonWriter[], drill: Drill): Promise<Observed[]> {
  return Promise.all(
    writers.map((writer, index) =>
      writer.ask<Observed>({
        do: 'observe',
        run_dirs: drill.runs.map((run) => run.dir),
        name: drill.pythonNames[index] ?? '',
        seed: index,
        passes: PASSES,
        pause_s: 0.04,
        shuffled: index % 2 === 1,
        reap_chance: 0.1,
      }),
    ),
  );
}

async function lionLoop(world: World, drill: Drill, index: number, isOver: () => boolean): Promise<void> {
  const call = { env: world.env, cwd: world.cwd };
  do {
    const one = drill.runs[Math.floor(Math.random() * drill.runs.length)]?.runId ?? '';
    const args =
      index % 2 === 0 ? ['job', 'list', '--limit', String(drill.runs.length)] : ['job', 'status', one];
    const run = await runLion([...args, '--machine'], call);
    drill.calls += 1;
    if (run.exitCode !== 0 || run.envelope?.ok !== true)
      drill.badCalls.push(`${args.join(' ')}: ${run.exitCode} ${run.stdout.slice(0, 200)} ${run.stderr}`);
    else drill.seenEnds.push(...endsIn(run));
  } while (!isOver());
}

function endsIn(run: LionRun): SeenEnd[] {
  const { data } = run.envelope ?? {};
  // biome-ignore lint/suspicious/noExplicitAny: rows and statuses have these keys in common
  const answers: any[] = data.jobs ?? [data];
  return answers
    .filter((answer) => answer.terminal)
    .map((answer) => ({ runId: answer.run_id, end: endOf((key) => answer[key]) }));
}

const END_KEYS = [
  'status',
  'outcome',
  'reason_code',
  'finished_at',
  'finished_at_precision',
  'terminal_source',
];

function endOf(value: (key: string) => unknown): string {
  return JSON.stringify(END_KEYS.map((key) => value(key) ?? null));
}

function hasEnd(run: LaidRun): boolean {
  return (run.record().get('finished_at') ?? null) !== null;
}

/** Which Python observer a record says ended it; null: one of ours. */
export function endedBy(record: JsonObject): string | null {
  const evidence = record.get('terminal_evidence');
  const by = evidence instanceof Map ? evidence.get('by') : null;
  return typeof by === 'string' ? by : null;
}

/** Everything that is not as it must be, in words; nothing: the drill was passed. */
export function faultsOf(drill: Drill): string[] {
  const faults = [...drill.badCalls];
  const finals = new Map(drill.runs.map((run) => [run.runId, run.record()]));
  for (const { runId, end } of drill.seenEnds) {
    const record = finals.get(runId);
    const final = record === undefined ? 'no record' : endOf((key) => record.get(key));
    if (end !== final) faults.push(`${runId}: shown as ended ${end}, and stands as ${final}`);
  }
  drill.python.forEach(({ changed, writes }, index) => {
    const name = drill.pythonNames[index];
    if (changed.length > 0) faults.push(`${name} saw ends change: ${JSON.stringify(changed)}`);
    if (writes !== PASSES * drill.runs.length) faults.push(`${name} wrote ${writes} times`);
  });
  for (const run of drill.runs) {
    const record = finals.get(run.runId) ?? new Map();
    faults.push(...faultsOfRun(drill, run, record).map((fault) => `${run.runId}: ${fault}`));
  }
  return faults;
}

function faultsOfRun(drill: Drill, run: LaidRun, record: JsonObject): string[] {
  const faults: string[] = [];
  const winners = drill.pythonNames.filter((_, index) => drill.python[index]?.won.includes(run.dir));
  const by = endedBy(record);
  if (record.get('terminal_source') !== 'mcp_orphan_reaper') faults.push('it has no end by an observer');
  if (winners.join() !== (by ?? '')) faults.push(`ended by ${by ?? 'us'}, and Python says by ${winners}`);
  const notices = drill.notices.filter((runId) => runId === run.runId).length;
  const delivery = record.get('notify_delivery');
  const attempted = delivery instanceof Map && delivery.get('attempted') === true;
  if (notices !== (attempted ? 1 : 0)) faults.push(`${notices} notices, and attempted is ${attempted}`);
  if (by !== null && attempted) faults.push('we announced an end of another');
  const owed = delivery instanceof Map && delivery.get('owed') === true;
  if (by === null && !attempted && !owed) faults.push('our end has no notice, and none is owed');
  for (const name of drill.pythonNames) {
    const kept = record.get(name);
    if (!(kept instanceof JsonNumber) || kept.text !== String(PASSES))
      faults.push(`a write of ${name} is lost`);
  }
  const large = record.get('9007199254740993');
  if (!(large instanceof JsonNumber) || large.text !== '12345678901234567890123')
    faults.push('a number is lost');
  const names = readdirSync(run.dir).filter((name) => !['job.json', 'job.lock'].includes(name));
  if (names.length > 0) faults.push(`left in its directory: ${names}`);
  return faults;
}

/** One line of what was counted. */
export function countsOf(drill: Drill): string {
  const records = drill.runs.map((run) => run.record());
  const ours = records.filter((record) => endedBy(record) === null).length;
  const writes = drill.python.reduce((sum, { writes: each }) => sum + each, 0);
  const distinct = new Set(drill.notices).size;
  return [
    `runs ${drill.runs.length}`,
    `ends ${records.filter((record) => (record.get('finished_at') ?? null) !== null).length}`,
    `by us ${ours}, by Python ${drill.runs.length - ours}`,
    `notices ${drill.notices.length} for ${distinct} runs`,
    `Python writes ${writes}`,
    `lion calls ${drill.calls}, ends shown ${drill.seenEnds.length}`,
    `faults ${faultsOf(drill).length}`,
    `${(drill.ms / 1000).toFixed(1)} s`,
  ].join('; ');
}
