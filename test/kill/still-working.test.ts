import { describe, expect, it } from 'vitest';
import { askKill, askLion } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, layRun } from '../support/lay-run.ts';
import { newRunId } from '../support/new-run-id.ts';
import type { WatchedProcess } from '../support/processes.ts';
import { logOf, startWorker } from '../support/run-programs.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** A run that works on for so long after SIGTERM. */
async function layWorker(
  world: World,
  worksOnSeconds: number,
): Promise<WatchedProcess & { runId: string; log: () => string }> {
  const runId = newRunId();
  const program = { mark: runId, work: world.work };
  const worker = await startWorker(program, worksOnSeconds);
  world.onDispose(worker.stop);
  layRun(world, runId, identityOf(worker));
  return { ...worker, runId, log: () => logOf(program) };
}

/** What a wait for the one run says of processes that live. */
// biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
function saysItLives(entry: any, pid: number): boolean {
  return entry.alive === true || (Array.isArray(entry.survivors) && entry.survivors.includes(pid));
}

describe.concurrent('a kill of a run that works on after SIGTERM (case 21)', () => {
  it('is answered as signalled, not as gone, and the run is seen to live beside its recorded end', () =>
    inWorld(async (world) => {
      const worker = await layWorker(world, 3);
      const killed = await askKill(world, worker.runId, ['--grace', '0.3']);
      expect(killed).toMatchObject({ killed: true, reason_code: 'signalled', gone: false });
      expect(killed).toMatchObject({ remaining: [worker.pid], escaped: [], already_ended: false });
      const logged = worker.log().length;

      const status = await askLion(world, ['job', 'status', worker.runId]);
      expect(status).toMatchObject({ terminal: true, status: 'killed', terminal_source: 'mcp_kill' });
      expect(status).toMatchObject({ alive: true, pid_identity: 'confirmed', liveness_conclusion: 'alive' });
      await waitUntil('the log to grow', () => worker.log().length > logged);
      expect(worker.fates()).toEqual(['alive']);

      await waitUntil('its work to be done', () => worker.fates()[0] !== 'alive');
      expect(worker.fates()).toEqual(['ended']); // by itself, exit status 0
      expect(worker.log()).toMatch(/done\n$/);
      const after = await askLion(world, ['job', 'status', worker.runId]);
      expect(after).toMatchObject({ terminal: true, status: 'killed', alive: false });
      expect(after.finished_at).toBe(status.finished_at);
    }));

  it('is not all over for a wait: the entry says what lives for as long as it does', () =>
    inWorld(async (world) => {
      const worker = await layWorker(world, 30);
      await askKill(world, worker.runId, ['--grace', '0']);
      const { runs } = await askLion(world, ['job', 'wait', worker.runId, '--max-wait', '0']);
      expect(worker.fates()).toEqual(['alive']);
      expect(runs[0]).toMatchObject({ terminal: true, status: 'killed' });
      expect(saysItLives(runs[0], worker.pid)).toBe(true);

      await worker.stop();
      const after = await askLion(world, ['job', 'wait', worker.runId, '--max-wait', '0']);
      expect(saysItLives(after.runs[0], worker.pid)).toBe(false);
    }));

  it('is ended within the grace by a second one with --force, and the first end stands', () =>
    inWorld(async (world) => {
      const worker = await layWorker(world, 60);
      await askKill(world, worker.runId, ['--grace', '0.2']);
      const first = await askLion(world, ['job', 'status', worker.runId]);
      const forced = await askKill(world, worker.runId, ['--grace', '1', '--force']);
      expect(forced).toMatchObject({ killed: true, reason_code: 'signalled', gone: true, remaining: [] });
      expect(forced.already_ended).toBe(true);
      expect(forced.ms).toBeLessThan(10_000); // a second, and what a call takes on a busy machine
      await waitUntil('it to be collected', () => worker.fates()[0] !== 'alive');
      expect(worker.fates()).toEqual(['SIGKILL']);
      const second = await askLion(world, ['job', 'status', worker.runId]);
      const end = ['status', 'outcome', 'finished_at', 'finished_at_precision', 'terminal_source'];
      expect(end.map((key) => second[key])).toEqual(end.map((key) => first[key]));
      expect(second.alive).toBe(false);
    }));
});
