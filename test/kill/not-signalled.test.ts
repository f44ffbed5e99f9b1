import { describe, expect, it } from 'vitest';
import { askKill } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { identityOf, layRun } from '../support/lay-run.ts';
import { newRunId } from '../support/new-run-id.ts';
import { startGroupSurvivors, startSleeper } from '../support/processes.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

describe.concurrent('a kill that may not signal', () => {
  it.skipIf(!isRoot)("answers permission_denied for another user's process, known by its start time", () =>
    inWorld(async (world) => {
      const sleeper = await startSleeper(null);
      world.onDispose(sleeper.stop);
      const run = layRun(world, newRunId(), identityOf(sleeper));
      const before = run.text();
      const answer = await askKill(world, run.runId, ['--grace', '0', '--force'], NOBODY);
      expect(answer).toMatchObject({ killed: false, signal: null, reason_code: 'permission_denied' });
      expect(answer).toMatchObject({ pid: sleeper.pid, pgid: sleeper.pgid, already_ended: false });
      expect(answer.reason).toEqual(expect.any(String));
      expect(run.text()).toBe(before);
      expect(sleeper.fates()).toEqual(['alive']);
    }),
  );

  it.skipIf(!isRoot)('does not call a run gone that was identified, alive, and could not be signalled', () =>
    inWorld(async (world) => {
      const sleeper = await startSleeper(null);
      world.onDispose(sleeper.stop);
      const run = layRun(world, newRunId(), identityOf(sleeper));
      const answer = await askKill(world, run.runId, ['--grace', '0'], NOBODY);
      expect(answer).toMatchObject({ reason_code: 'permission_denied', remaining: [sleeper.pid] });
      expect(answer.gone).toBe(false);
    }),
  );

  it('does not call a live, marked leader escaped from a group it never was in by the record', () =>
    inWorld(async (world) => {
      const runId = newRunId();
      const sleeper = await startSleeper(runId);
      world.onDispose(sleeper.stop);
      layRun(world, runId, { ...identityOf(sleeper), pgid: new JsonNumber('1999999998') });
      const answer = await askKill(world, runId, ['--grace', '0']);
      expect(answer).toMatchObject({ killed: false, reason_code: 'leader_group_mismatch', gone: false });
      expect(answer.remaining).toEqual([sleeper.pid]);
      expect(sleeper.fates()).toEqual(['alive']);
    }));

  it('does not list a member of the recorded group as escaped from it', () =>
    inWorld(async (world) => {
      const [runId, other] = [newRunId(), newRunId()];
      const group = await startGroupSurvivors([runId, other]);
      world.onDispose(group.stop);
      layRun(world, runId, identityOf(group));
      const answer = await askKill(world, runId, ['--grace', '0', '--force']);
      expect(answer).toMatchObject({ killed: false, reason_code: 'group_markers_conflict', gone: false });
      expect(answer).toMatchObject({ remaining: [group.members[0]], escaped: [] });
      expect(group.fates()).toEqual(['alive', 'alive']);
    }));
});
