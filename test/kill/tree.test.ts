import { describe, expect, it } from 'vitest';
import { askKill } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, layRun } from '../support/lay-run.ts';
import { newRunId } from '../support/new-run-id.ts';
import { startSleeper } from '../support/processes.ts';
import { hasEnded, type RunTree, startTree, startWorker } from '../support/run-programs.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** A run that is such a tree; it is ended with the world. */
async function layTree(
  world: World,
  tree: { withSetsid: boolean; stubbornMark?: null },
): Promise<RunTree & { runId: string }> {
  const runId = newRunId();
  const started = await startTree({ mark: runId, work: world.work, ...tree });
  world.onDispose(started.stop);
  layRun(world, runId, identityOf(started));
  return { ...started, runId };
}

describe.concurrent('a kill of a tree of processes (case 20)', () => {
  it('with --force leaves no member of the group, and no process that left it unmentioned', () =>
    inWorld(async (world) => {
      const tree = await layTree(world, { withSetsid: true });
      const answer = await askKill(world, tree.runId, ['--grace', '1', '--force']);
      expect(answer).toMatchObject({ killed: true, reason_code: 'signalled', signal: 'SIGTERM' });
      expect([tree.pid, tree.node, tree.stubborn].map(hasEnded)).toEqual([true, true, true]);
      const away = tree.setsid ?? 0;
      const left = hasEnded(away) ? [] : [away];
      expect(answer).toMatchObject({ remaining: left, escaped: left, gone: left.length === 0 });
    }));

  it('without --force ends what SIGTERM ends and lists everything that is left', () =>
    inWorld(async (world) => {
      const tree = await layTree(world, { withSetsid: true });
      const answer = await askKill(world, tree.runId, ['--grace', '0.5']);
      const away = tree.setsid ?? 0;
      const left = [tree.stubborn, away].sort((a, b) => a - b);
      expect(answer).toMatchObject({ killed: true, reason_code: 'signalled', gone: false });
      expect(answer).toMatchObject({ remaining: left, escaped: [away] });
      expect([tree.pid, tree.node].map(hasEnded)).toEqual([true, true]);
      expect([tree.stubborn, away].map(hasEnded)).toEqual([false, false]);
    }));

  it('goes on to KILL for a member that outlived the leader', () =>
    inWorld(async (world) => {
      const tree = await layTree(world, { withSetsid: false });
      const answer = await askKill(world, tree.runId, ['--grace', '1', '--force']);
      expect(answer).toMatchObject({ killed: true, gone: true, remaining: [], escaped: [] });
      expect(hasEnded(tree.stubborn)).toBe(true);
      expect(tree.fates()).toEqual(['SIGTERM']); // the leader was long gone by then
    }));

  it('goes on to KILL for a member without the mark: the group was proved to be the run', () =>
    inWorld(async (world) => {
      const tree = await layTree(world, { withSetsid: false, stubbornMark: null });
      const answer = await askKill(world, tree.runId, ['--grace', '1', '--force']);
      expect(answer).toMatchObject({ killed: true, gone: true, remaining: [] });
      expect(hasEnded(tree.stubborn)).toBe(true);
    }));

  it('goes on to KILL for a leader that stays while its group is otherwise empty', () =>
    inWorld(async (world) => {
      const runId = newRunId();
      const worker = await startWorker({ mark: runId, work: world.work }, 60);
      world.onDispose(worker.stop);
      layRun(world, runId, identityOf(worker));
      const answer = await askKill(world, runId, ['--grace', '0.5', '--force']);
      expect(answer).toMatchObject({ killed: true, gone: true, remaining: [] });
      await waitUntil('the leader to be collected', () => worker.fates()[0] !== 'alive');
      expect(worker.fates()).toEqual(['SIGKILL']);
    }));

  it('lists a group whose leader ended long ago by its marked members, and ends it', () =>
    inWorld(async (world) => {
      const tree = await layTree(world, { withSetsid: false });
      process.kill(tree.pid, 'SIGKILL');
      await waitUntil('the leader to be collected', () => tree.fates()[0] !== 'alive');
      const answer = await askKill(world, tree.runId, ['--grace', '0.5']);
      expect(answer).toMatchObject({ killed: true, gone: false, remaining: [tree.stubborn], escaped: [] });
      expect(hasEnded(tree.node)).toBe(true);
    }));

  it('does not wait out the grace, and sends no KILL, once the group is empty', () =>
    inWorld(async (world) => {
      const runId = newRunId();
      const sleeper = await startSleeper(runId);
      world.onDispose(sleeper.stop);
      layRun(world, runId, identityOf(sleeper));
      const answer = await askKill(world, runId, ['--grace', '60', '--force']);
      expect(answer).toMatchObject({ killed: true, gone: true });
      expect(answer.ms).toBeLessThan(20_000);
      await waitUntil('the sleeper to be collected', () => sleeper.fates()[0] !== 'alive');
      expect(sleeper.fates()).toEqual(['SIGTERM']);
    }));
});
