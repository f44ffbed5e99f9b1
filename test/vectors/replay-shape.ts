import type { Expected } from '../support/expected.ts';
import type { JsonObject } from '../support/json-tree.ts';
import { askMachine } from './call.ts';
import { askKill } from './kill-call.ts';
import { type LaidOut, layOut } from './lay-out.ts';
import type { Vector } from './load.ts';
import { withWorld } from './with-world.ts';

/** Recorded names that ours says under another name, or in the envelope instead. */
const OURS: Record<string, Record<string, string | null>> = {
  status: { log_tail: 'console', known: null, server: null },
  output: { known: null, artifacts_state: null },
  kill: {},
};

/** The keys of each answer, in their order; ours may stand among them. */
export function replayShape(vector: Vector): Promise<string[]> {
  return withWorld(layOut(vector), async (laid) => {
    const answers = await answersOf(laid, vector.runId);
    return Object.entries(answers).flatMap(([name, answer]) =>
      orderProblems(name, answer, vector.expect.get(name) ?? null),
    );
  });
}

async function answersOf(laid: LaidOut, runId: string): Promise<Record<string, JsonObject>> {
  const status = await askMachine(laid, ['job', 'status', runId, '--machine']);
  const list = await askMachine(laid, ['job', 'list', '--limit', '50', '--machine']);
  const wait = await askMachine(laid, ['job', 'wait', runId, '--machine', '--max-wait', '0']);
  const output = await askMachine(laid, ['job', 'output', runId, '--machine']);
  const kill = await askKill(laid, runId, []);
  return {
    status: status.data,
    list_row: firstOf(list.data, 'jobs'),
    wait: wait.data,
    wait_entry: firstOf(wait.data, 'runs'),
    output: output.data,
    kill: kill.data,
  };
}

function firstOf(data: JsonObject, key: string): JsonObject {
  const list = data.get(key);
  const first = Array.isArray(list) ? list[0] : undefined;
  return first instanceof Map ? first : new Map();
}

function orderProblems(name: string, answer: JsonObject, recorded: Expected): string[] {
  if (!Array.isArray(recorded)) throw new Error(`recorded keys that are no list: ${name}`);
  const wanted = recorded
    .map(String)
    .flatMap((key) => OURS[name]?.[key] ?? (OURS[name]?.[key] === null ? [] : key));
  const found = [...answer.keys()].filter((key) => wanted.includes(key));
  return found.join() === wanted.join() ? [] : [`${name}: the keys ${found}, wanted ${wanted}`];
}
