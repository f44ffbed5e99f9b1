import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { askKill } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { type Json, JsonNumber } from '../support/json-tree.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { newRunId } from '../support/new-run-id.ts';
import { startSleeper, type WatchedProcess } from '../support/processes.ts';
import { pythonFloat } from '../support/python-json.ts';

const END = { finished_at: '2026-08-01T12:05:00.500000+00:00', terminal_source: 'cli_terminal_hook' };

/** What a record can say of a process that has the number of an unrelated one now. */
const IDENTITIES: Record<string, (sleeper: WatchedProcess) => Record<string, Json>> = {
  'its number and group, started earlier': (sleeper) => ({
    ...identityOf(sleeper),
    pid_create_time: new JsonNumber(pythonFloat(sleeper.createTime - 3_600)),
  }),
  'its number and group, started a quarter of a second earlier': (sleeper) => ({
    ...identityOf(sleeper),
    pid_create_time: new JsonNumber(pythonFloat(sleeper.createTime - 0.25)),
  }),
  'its number and group, no start time': (sleeper) => ({ ...identityOf(sleeper), pid_create_time: null }),
  'its number, start time and no group': (sleeper) => ({ ...identityOf(sleeper), pgid: null }),
};

function hashOf(run: LaidRun): string {
  return createHash('sha256').update(run.text()).digest('hex');
}

describe.concurrent('a kill of a finished run whose number is held by another (case 24)', () => {
  for (const status of ['completed', 'some_future_word']) {
    for (const [what, identity] of Object.entries(IDENTITIES)) {
      it(`sends nothing and writes nothing, twice: status ${status}, on the record ${what}`, () =>
        inWorld(async (world) => {
          const sleeper = await startSleeper(null);
          world.onDispose(sleeper.stop);
          const run = layRun(world, newRunId(), { ...identity(sleeper), ...END, status });
          const before = hashOf(run);
          for (const _ of ['once', 'twice']) {
            const answer = await askKill(world, run.runId, ['--grace', '0', '--force']);
            expect(answer).toMatchObject({ killed: false, signal: null, already_ended: true });
            expect(answer.reason_code).not.toBe('signalled');
            expect(answer).toMatchObject({ remaining: [], escaped: [] });
            expect(hashOf(run)).toBe(before);
          }
          expect(sleeper.fates()).toEqual(['alive']);
        }));
    }
  }
});
