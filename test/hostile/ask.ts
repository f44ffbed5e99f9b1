import type { LaidRun } from '../support/lay-run.ts';
import { type LionCall, type LionRun, runLion } from '../support/lion.ts';

/** What one place says of a run through every verb that classifies; undefined where it was not asked. */
export interface Answers {
  // biome-ignore lint/suspicious/noExplicitAny: the tests reach into answers of every shape
  status: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  row: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  entry: any;
  bucket: 'terminal' | 'pending' | 'stopped_without_end' | 'unresolved_spawn' | undefined;
}

export interface Asked {
  answers: Map<string, Answers>;
  /** Calls that gave no envelope, or one that is not ok. */
  failures: string[];
}

export interface Asking {
  /** Runs to ask the status of one by one; list and wait are asked about all. */
  statusOf: readonly LaidRun[];
  /** Calls made side by side. */
  atOnce?: number;
}

/** Asks `job list`, `job wait` and `job status` through the built CLI. */
export async function ask(runs: readonly LaidRun[], call: LionCall, asking: Asking): Promise<Asked> {
  const failures: string[] = [];
  // biome-ignore lint/suspicious/noExplicitAny: the tests reach into answers of every shape
  const told = new Map<string, any>();
  const question = (key: string, args: readonly string[]) => async () => {
    const run = await runLion(['job', ...args, '--machine'], call);
    const problem = problemOf(run);
    if (problem === null) told.set(key, run.envelope?.data);
    else failures.push(`${args.join(' ').slice(0, 60)}: ${problem}`);
  };
  const ids = runs.map(({ runId }) => runId);
  await inTurns(asking.atOnce ?? 3, [
    question('list', ['list', '--limit', '1000']),
    question('wait', ['wait', ...ids, '--max-wait', '0']),
    ...asking.statusOf.map(({ runId }) => question(runId, ['status', runId])),
  ]);
  const of = (of: 'jobs' | 'runs', verb: string, runId: string) =>
    told.get(verb)?.[of].find((each: { run_id: string }) => each.run_id === runId);
  const answersOf = (runId: string): Answers => ({
    status: told.get(runId),
    row: of('jobs', 'list', runId),
    entry: of('runs', 'wait', runId),
    bucket: told.has('wait') ? bucketIn(told.get('wait'), runId) : undefined,
  });
  return { answers: new Map(ids.map((runId) => [runId, answersOf(runId)])), failures };
}

function problemOf(run: LionRun): string | null {
  if (run.envelope === undefined)
    return `no envelope, exit ${run.exitCode ?? run.signal}: ${run.stderr.trim().slice(-200)}`;
  return run.envelope.ok ? null : `${run.envelope.error?.kind}: ${run.envelope.error?.message}`;
}

const OPEN_BUCKETS = ['pending', 'stopped_without_end', 'unresolved_spawn'] as const;

function bucketIn(wait: Record<string, string[]>, runId: string): Answers['bucket'] {
  return OPEN_BUCKETS.find((bucket) => wait[bucket]?.includes(runId)) ?? 'terminal';
}

async function inTurns(atOnce: number, work: readonly (() => Promise<void>)[]): Promise<void> {
  const left = [...work];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await next();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
