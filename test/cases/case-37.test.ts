import { describe, expect, it } from 'vitest';
import { askKill } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { newRunId } from '../support/new-run-id.ts';
import { startGroupSurvivors, type WatchedProcess } from '../support/processes.ts';
import { endOf, REAPED } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** A run whose leader has exited, and whose group goes on with members of these marks. */
async function laySurvivors(
  world: World,
  marks: (runId: string) => (string | null)[],
): Promise<{ run: LaidRun; group: WatchedProcess }> {
  const runId = newRunId();
  const group = await startGroupSurvivors(marks(runId));
  world.onDispose(group.stop);
  return { run: layRun(world, runId, identityOf(group)), group };
}

async function reaped(run: LaidRun): Promise<void> {
  await waitUntil('the run to be ended', () => run.record().get('finished_at'), 30_000);
  expect(endOf(run)).toEqual(REAPED);
}

describe.concurrent('case 37: the leader has gone and its workers go on', () => {
  it('case 37: the run is reaped and shows its live workers; a kill ends them, records that, and leaves the end alone', async () => {
    await inWorld(async (world) => {
      const { run, group } = await laySurvivors(world, (runId) => [runId, runId]);
      await startSupervisor(world);
      await reaped(run);
      expect(group.fates()).toEqual(['alive', 'alive']);
      const status = await askData(world, ['job', 'status', run.runId]);
      expect(status).toMatchObject({ terminal: true, outcome: 'indeterminate', survivors: group.members });
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs).toMatchObject([{ survivors: group.members }]);
      expect((await runLion(['job', 'list'], world)).stdout).toContain('survivors:2');

      const end = endOf(run);
      const finishedAt = run.record().get('finished_at');
      const killed = await askKill(world, run.runId, ['--grace', '5']);
      expect(killed).toMatchObject({ killed: true, gone: true, remaining: [], already_ended: true });
      expect(group.fates()).toEqual(['ended', 'ended']);
      expect([endOf(run), run.record().get('finished_at')]).toEqual([end, finishedAt]);
      expect(run.record().get('group_reaped_at')).toEqual(expect.any(String));
    });
  });

  it('case 37: a stranger in the group carries no mark: the run is reaped, and a kill is refused', async () => {
    await inWorld(async (world) => {
      const { run, group } = await laySurvivors(world, () => [null]);
      await startSupervisor(world);
      await reaped(run);
      const killed = await askKill(world, run.runId, ['--grace', '0', '--force']);
      expect(killed).toMatchObject({ killed: false, reason_code: 'group_ownership_unproven' });
      expect(group.fates()).toEqual(['alive']);
      expect(run.record().has('group_reaped_at')).toBe(false);
    });
  });
});
