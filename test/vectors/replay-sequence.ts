import { join } from 'node:path';
import type { Expected } from '../support/expected.ts';
import { compareAfter, consoleOf } from './compare-after.ts';
import { bytesOf, type LaidOut, layOut } from './lay-out.ts';
import type { Vector } from './load.ts';
import { fillExpected, fillExpectedObject, fillText } from './placeholders.ts';
import { timeOfCall } from './time-of-call.ts';
import { type Made, makeCall } from './verbs.ts';
import { withWorld } from './with-world.ts';

/** What `seconds` calls "about the second": a busy machine may take this much longer. */
const SLACK_SECONDS = 10;

/** The calls in order on one world, then what they left on disk. */
export function replaySequence(vector: Vector, arrange: (laid: LaidOut) => void): Promise<string[]> {
  return withWorld(layOut(vector), async (laid) => {
    arrange(laid);
    return callAll(laid, vector);
  });
}

async function callAll(laid: LaidOut, vector: Vector): Promise<string[]> {
  const consoleBefore = consoleOf(laid);
  const othersBefore = new Map(
    [...vector.otherRecords.keys()].map((name) => [name, bytesOf(join(laid.world.jobs, name, 'job.json'))]),
  );
  const from = Date.now();
  const made: Made[] = [];
  for (const call of vector.calls)
    made.push(
      await makeCall(
        laid,
        call.map((part) => fillText(part, laid.facts)),
      ),
    );
  const now = timeOfCall(from, Date.now());
  const fill = (expected: Expected) => fillExpected(expected, laid.facts, now);
  const expect = fillExpectedObject(vector.expect, laid.facts, now);
  const calls = expect.get('calls');
  if (!Array.isArray(calls) || calls.length !== made.length) throw new Error('not as many answers as calls');
  return [
    ...made.flatMap(({ compare }, index) =>
      compare(calls[index] ?? null).map((problem) => `call ${index} ${vector.calls[index]?.[0]}: ${problem}`),
    ),
    ...timeProblems(made, vector.seconds),
    ...compareAfter({ laid, othersBefore, consoleBefore, expect, fill }),
  ];
}

function timeProblems(made: readonly Made[], seconds: Vector['seconds']): string[] {
  if (!seconds) return [];
  const took = made.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  if (took < seconds[0]) return [`took ${took} s, at least ${seconds[0]} s wanted`];
  return took > seconds[1] + SLACK_SECONDS ? [`took ${took} s, about ${seconds[1]} s wanted`] : [];
}
