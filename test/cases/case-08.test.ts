import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configure, FAST_RETRIES } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { endOf, layGone, noticeOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const TOKEN = 'xoxb-1234-SECRET-TOKEN';
const FAILS = `
sys.stderr.write(("connection refused by the receiver, token ${TOKEN} " * 80)[:4096])
sys.exit(1)`;
const [FAILED, MISSING, HANGING] = [1, 2, 3].map(runIdOf) as [string, string, string];

/** Gone runs, each with its own notifier: one exits 1 with 4 KB of words, one is missing, one hangs. */
async function layThree(world: World) {
  const notifiers = {
    failing: makeNotifier(world, 'failing', FAILS).command,
    hanging: makeNotifier(world, 'hanging', 'time.sleep(60)').command,
  };
  return {
    failed: await layGone(world, FAILED, { notify_command: notifiers.failing }),
    missing: await layGone(world, MISSING, { notify_command: JSON.stringify([join(world.bin, 'none')]) }),
    hanging: await layGone(world, HANGING, { notify_command: notifiers.hanging }),
  };
}

/** Everything below the home and the supervisor's words, but for the notifiers' own notes. */
function textsOf(world: World): string {
  return readdirSync(world.lionagiHome, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

describe.concurrent('case 8: a notice that failed leaves a trace where people look', () => {
  it('case 8: list, status and log tell failed and retrying, parked, and unknown apart, with a class of a closed set, and none of what the notifier said', async () => {
    await inWorld(async (world) => {
      configure(world, 'notify: {timeout_seconds: 1}\n');
      const runs = await layThree(world);
      const supervisor = await startSupervisor(world);
      const settled = () => Object.values(runs).every((run) => noticeOf(run)?.retry !== undefined);
      await waitUntil('three notices to have failed', settled);

      const { jobs } = await askData(world, ['job', 'list']);
      const told = jobs.map((job: Record<string, unknown>) => [
        job.run_id,
        job.outcome,
        job.notify_delivery_state,
        job.notify_retry_state,
      ]);
      expect(told).toEqual([
        [HANGING, 'indeterminate', 'unknown', 'parked'],
        [MISSING, 'indeterminate', 'failed', 'parked'],
        [FAILED, 'indeterminate', 'failed', 'retrying'],
      ]);

      const deliveryOf = async (runId: string) =>
        (await askData(world, ['job', 'status', runId])).notify_delivery.value;
      const failed = await deliveryOf(FAILED);
      expect(failed).toMatchObject({ attempts: 1, exit_code: 1, failure_class: 'connection_failed' });
      const nextMs = Date.parse(failed.retry.next_at) - Date.now();
      expect(nextMs).toBeLessThan(30_000);
      expect(await deliveryOf(MISSING)).toMatchObject({
        attempts: 1,
        error: 'FileNotFoundError',
        retry: { parked: { reason: 'notifier_cannot_start' } },
      });
      expect(await deliveryOf(HANGING)).toMatchObject({
        attempts: 1,
        failure_class: 'timeout',
        retry: { parked: { reason: 'outcome_unknown' } },
      });

      await supervisor.end('SIGTERM');
      const logged = supervisorEvents(world, 'notice').map((each) => [
        each.run_id,
        each.state,
        each.next,
        each.parked,
      ]);
      expect(logged.sort()).toEqual([
        [FAILED, 'failed', 'retrying', undefined],
        [MISSING, 'failed', 'parked', 'notifier_cannot_start'],
        [HANGING, 'unknown', 'parked', 'outcome_unknown'],
      ]);
      for (const run of Object.values(runs)) expect(endOf(run)).toEqual(REAPED);
      expect(textsOf(world) + supervisor.said() + supervisor.complained()).not.toContain('SECRET');
    });
  });

  it('case 8: one that was given up is said to be, in list, status and log', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${FAST_RETRIES}, max_attempts: 2}\n`);
      const notifier = makeNotifier(world, 'failing', FAILS);
      const run = await layGone(world, FAILED, { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      await waitUntil('it to be given up', () => noticeOf(run)?.retry?.parked !== undefined, 30_000);
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs).toMatchObject([{ notify_delivery_state: 'failed', notify_retry_state: 'parked' }]);
      expect((await runLion(['job', 'list'], world)).stdout).toContain('notice:parked');
      expect((await runLion(['job', 'status', FAILED], world)).stdout).toMatch(
        /\nnotice +failed, parked.*attempts_exhausted/,
      );
      await supervisor.end('SIGTERM');
      expect(supervisorEvents(world, 'notice').at(-1)).toMatchObject({
        state: 'failed',
        next: 'parked',
        parked: 'attempts_exhausted',
      });
      expect(supervisor.said()).toMatch(/notice: failed, parked \(attempts_exhausted\)/);
      expect(endOf(run)).toEqual(REAPED);
    });
  });
});
