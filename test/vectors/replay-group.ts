import { describe, expect, it } from 'vitest';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { differencesOf } from './differences.ts';
import { loadGroup, type Vector } from './load.ts';
import { replaySequence } from './replay-sequence.ts';
import { replayShape } from './replay-shape.ts';
import { replaySingle } from './replay-single.ts';

/** Registers a test for every vector of a group: the situation is laid out and the built CLI is asked. */
export function replayGroup(group: string): void {
  describe.concurrent(`recorded answers: ${group}`, () => {
    for (const vector of loadGroup(group)) {
      it(`${vector.id} ${vector.title}`, async ({ skip }) => {
        const why = whyNotHere(vector);
        if (why !== null) skip(why);
        expect(await replay(vector)).toEqual([]);
      });
    }
  });
}

async function replay(vector: Vector): Promise<string[]> {
  const differences = differencesOf(vector);
  for (const { adjust } of differences) adjust(vector.expect, vector);
  if (vector.mode === 'single') return replaySingle(vector);
  if (vector.mode === 'shape') return replayShape(vector);
  return replaySequence(vector, (laid) => {
    for (const { arrange } of differences) arrange?.(laid);
  });
}

function whyNotHere(vector: Vector): string | null {
  return vector.asUid === null ? null : whyNoMountNamespace();
}
