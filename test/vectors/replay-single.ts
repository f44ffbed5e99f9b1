import { type Expected, type ExpectedObject, isExpectedObject } from '../support/expected.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import { askMachine } from './call.ts';
import { compareLifecycleCalls, namesIn } from './compare-after.ts';
import { compareRowOf } from './compare-list.ts';
import { compareRecordAfter } from './compare-record.ts';
import { compareWaitForOne } from './compare-wait.ts';
import { type LaidOut, layOut } from './lay-out.ts';
import type { Vector } from './load.ts';
import { fillExpected } from './placeholders.ts';
import { replayKill } from './replay-kill.ts';
import { timeOfCall } from './time-of-call.ts';
import { makeCall } from './verbs.ts';
import { withWorld } from './with-world.ts';

type Look = (laid: LaidOut, vector: Vector) => Promise<(recorded: Expected) => string[]>;

/** Each verb on a world of its own, laid out anew. */
const LOOKS: Record<string, Look> = {
  status: async (laid, { runId }) => (await makeCall(laid, ['status', runId])).compare,
  list_row: async (laid, { runId }) => {
    const answer = await askMachine(laid, ['job', 'list', '--limit', '50', '--machine']);
    return (recorded) => compareRowOf(answer, runId, recorded);
  },
  wait: async (laid, { runId }) => {
    const answer = await askMachine(laid, ['job', 'wait', runId, '--machine', '--max-wait', '0']);
    return (recorded) => {
      if (!answer.ok) return [...answer.problems, `not ok: ${shown(answer.error)}`];
      if (!isExpectedObject(recorded)) return ['a recorded wait that is no object'];
      return [...answer.problems, ...compareWaitForOne(answer.data, runId, recorded)];
    };
  },
  output: async (laid, { runId }) => (await makeCall(laid, ['output', runId])).compare,
};

export async function replaySingle(vector: Vector): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, look] of Object.entries(LOOKS)) {
    const recorded = vector.expect.get(name);
    if (recorded === undefined) continue;
    const found = await withWorld(layOut(vector), (laid) => lookAt(laid, vector, name, look, recorded));
    problems.push(...found.map((problem) => `${name}: ${problem}`));
  }
  const killed = await replayKill(vector);
  return [...problems, ...killed.map((problem) => `kill: ${problem}`)];
}

async function lookAt(laid: LaidOut, vector: Vector, name: string, look: Look, recorded: Expected) {
  const from = Date.now();
  const compare = await look(laid, vector);
  const now = timeOfCall(from, Date.now());
  const fill = (expected: Expected) => fillExpected(expected, laid.facts, now);
  const { expect } = vector;
  const recordAfter =
    expect.get(`record_after_${name.replace('_row', '')}`) ?? expect.get('record_after') ?? null;
  const problems = [...compare(fill(recorded)), ...compareRecordAfter(laid, fill(recordAfter))];
  return name === 'status' ? [...problems, ...afterStatus(laid, expect, fill)] : problems;
}

/** The directory and the questions to `li` were recorded for `status` alone. */
function afterStatus(
  laid: LaidOut,
  expect: ExpectedObject,
  fill: (expected: Expected) => Expected,
): string[] {
  const names = fill(expect.get('job_dir_after') ?? null);
  return [
    ...mismatches(namesIn(laid.jobDir), names, {}, ['job_dir_after']),
    ...compareLifecycleCalls(laid, expect.get('lifecycle_calls') ?? null),
  ];
}
