import { type Expected, type ExpectedObject, isExpectedObject } from '../support/expected.ts';
import type { Json, JsonObject } from '../support/json-tree.ts';
import { mismatches, shown } from '../support/record-compare.ts';

const UNFINISHED = ['pending', 'stopped_without_end', 'unresolved_spawn'];

/** Recorded in place of a run's entry, and derived from ours. */
const DERIVED = ['bucket', 'error_kind'];

/** A recorded `wait` against our `data`. */
export function compareWait(data: JsonObject, recorded: ExpectedObject): string[] {
  const problems: string[] = [];
  for (const [key, value] of recorded) {
    if (key === 'runs') problems.push(...compareRuns(data, value));
    // Windows and intervals are doubles of ours too, and JavaScript writes a whole double without a point.
    else problems.push(...mismatches(data.get(key), value, { wholeFloatsAsIntegers: true }, [key]));
  }
  return problems;
}

/** What a `single` vector records of a wait for its one run. */
export function compareWaitForOne(data: JsonObject, runId: string, recorded: ExpectedObject): string[] {
  const rest = new Map([...recorded].filter(([key]) => !DERIVED.includes(key)));
  const runs = data.get('runs');
  if (!Array.isArray(runs) || runs.length !== 1) return [`/runs: one wanted, found ${shown(runs)}`];
  const one = new Map<string, Expected>([['run_id', runId]]);
  for (const key of DERIVED) one.set(key, recorded.get(key) ?? null);
  return [...compareRun(data, runs[0], one, 0), ...compareWait(data, rest)];
}

function compareRuns(data: JsonObject, recorded: Expected): string[] {
  const runs = data.get('runs');
  if (!Array.isArray(runs) || !Array.isArray(recorded)) return [`/runs: ${shown(runs)}`];
  if (runs.length !== recorded.length) return [`/runs: ${recorded.length} wanted, ${runs.length} found`];
  return recorded.flatMap((run, index) => compareRun(data, runs[index], run, index));
}

function compareRun(data: JsonObject, run: Json | undefined, recorded: Expected, index: number): string[] {
  if (!(run instanceof Map) || !isExpectedObject(recorded)) return [`/runs/${index}: ${shown(run)}`];
  const at = ['runs', String(index)];
  const problems = [
    ...mismatches(bucketOf(data, run), recorded.get('bucket') ?? null, {}, [...at, 'bucket']),
    ...mismatches(errorKindOf(run), ourKind(recorded.get('error_kind')), {}, [...at, 'error', 'kind']),
  ];
  const rest = [...recorded].filter(([key]) => !DERIVED.includes(key));
  return problems.concat(rest.flatMap(([key, value]) => mismatches(run.get(key), value, {}, [...at, key])));
}

function bucketOf(data: JsonObject, run: JsonObject): string {
  if (run.get('error') !== null) return 'error';
  if (run.get('terminal') === true) return 'terminal';
  const lists = UNFINISHED.filter((name) => {
    const ids = data.get(name);
    return Array.isArray(ids) && ids.includes(run.get('run_id') ?? null);
  });
  return lists.length === 1 ? (lists[0] ?? '') : `in ${lists.length} buckets: ${lists}`;
}

function errorKindOf(run: JsonObject): Json {
  const error = run.get('error');
  return error instanceof Map ? (error.get('kind') ?? null) : (error ?? null);
}

/** `record_unusable` is not of the closed kinds of our contract. */
function ourKind(kind: Expected | undefined): Expected {
  return kind === 'record_unusable' ? 'unavailable' : (kind ?? null);
}
