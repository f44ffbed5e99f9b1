import { type Expected, isExpectedObject } from '../support/expected.ts';
import { mismatches } from '../support/record-compare.ts';
import { waitUntil } from '../support/wait-until.ts';
import { namesIn } from './compare-after.ts';
import { compareKill } from './compare-kill.ts';
import { compareRecordAfter } from './compare-record.ts';
import { askKill } from './kill-call.ts';
import { type LaidOut, layOut } from './lay-out.ts';
import type { Vector } from './load.ts';
import { fillExpected } from './placeholders.ts';
import { timeOfCall } from './time-of-call.ts';
import { makeCall } from './verbs.ts';
import { withWorld } from './with-world.ts';

/** A kill on a world of its own, what became of the processes, and what it left on disk. */
export async function replayKill(vector: Vector): Promise<string[]> {
  if (!vector.expect.has('kill')) return [];
  return withWorld(layOut(vector), (laid) => killIn(laid, vector));
}

async function killIn(laid: LaidOut, { runId, killArgs = [], expect }: Vector): Promise<string[]> {
  const from = Date.now();
  const answer = await askKill(laid, runId, killArgs);
  const now = timeOfCall(from, Date.now());
  const recorded = (key: string): Expected => fillExpected(expect.get(key) ?? null, laid.facts, now);
  const kill = recorded('kill');
  if (!isExpectedObject(kill)) return ['a recorded kill that is no object'];
  const problems = [
    ...compareKill(answer, kill),
    ...(await compareFates(laid, recorded('processes_after_kill'))),
    ...compareRecordAfter(laid, recorded('record_after_kill')),
    ...mismatches(namesIn(laid.jobDir), recorded('job_dir_after_kill'), {}, ['job_dir_after_kill']),
  ];
  if (!expect.has('status_after_kill')) return problems;
  const status = await makeCall(laid, ['status', runId]);
  const after = status.compare(recorded('status_after_kill'));
  return [...problems, ...after.map((problem) => `status_after_kill: ${problem}`)];
}

/** A signal may take a moment to end what it was sent to; what is alive then is taken to stay so. */
async function compareFates(laid: LaidOut, recorded: Expected): Promise<string[]> {
  const compare = () => mismatches(laid.process?.fates() ?? [], recorded, {}, ['processes_after_kill']);
  try {
    await waitUntil('the processes to fare as recorded', () => compare().length === 0, 3_000);
  } catch {
    return compare();
  }
  return [];
}
