import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { nextAttemptMs } from '../../shared/notify/backoff.ts';
import { DEFAULT_NOTIFY_POLICY } from '../../shared/notify/policy.ts';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Three hours at 1:1000, and the pauses with it; due notices are looked for every second. */
const OUTAGE_MS = 11_000;
const [BASE_MS, CAP_MS, LOOK_MS] = [500, 3_000, 1_000];
const POLICY = `backoff_base_seconds: ${BASE_MS / 1000}, backoff_cap_seconds: ${CAP_MS / 1000}, lasts_hours: 0`;
const HOUR_MS = 3_600_000;

describe.concurrent('case 44: retries outlast an outage', () => {
  it('case 44: the pauses on the record grow to a cap, and the first attempt after the recovery delivers', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${POLICY}, max_attempts: 100}\n`);
      const recovered = join(world.root, 'recovered');
      const notifier = makeNotifier(
        world,
        'notifier',
        `sys.exit(0 if os.path.exists(${JSON.stringify(recovered)}) else 75)`,
      );
      const run = layOwed(world, runIdOf(1), notifier.command);
      await startSupervisor(world);
      await waitUntil('the outage to begin', () => notifier.calls().length === 1);
      const pauses = new Map<number, number>();
      const endMs = Date.now() + OUTAGE_MS;
      while (Date.now() < endMs) {
        const { attempts, retry } = noticeOf(run);
        const at = notifier.calls()[attempts - 1]?.at;
        if (retry !== undefined && at !== undefined)
          pauses.set(attempts, Date.parse(retry.next_at) - at * 1000);
        await sleep(50);
      }
      writeFileSync(recovered, '');
      const before = notifier.calls().length;
      await waitUntil('it to be delivered', () => noticeOf(run).ok === true, CAP_MS + LOOK_MS + 10_000);
      // The one that was just under way may still have met the outage.
      expect(notifier.calls().length - before).toBeLessThanOrEqual(2);
      expect(noticeOf(run).attempts).toBe(notifier.calls().length);
      expect(before).toBeGreaterThanOrEqual(3);
      // What starting and settling takes on a busy machine is added to each pause.
      const busyMs = 2_000;
      for (const [attempts, pause] of pauses)
        expect(pause).toBeLessThanOrEqual(Math.min(CAP_MS, BASE_MS * 2 ** (attempts - 1)) + busyMs);
    });
  });

  it('case 44: by default the last attempts are spread over a day', () => {
    // The luckless receiver: each pause is the shortest that chance can give.
    let nowMs = 0;
    for (let attempts = 1; attempts < DEFAULT_NOTIFY_POLICY.maxAttempts; attempts++)
      nowMs = nextAttemptMs({ attempts, endMs: 0, nowMs }, 0, DEFAULT_NOTIFY_POLICY);
    expect(nowMs).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(nowMs).toBeLessThanOrEqual(DEFAULT_NOTIFY_POLICY.expiresMs);
  });

  it('case 44: a supervisor that sleeps uses up no attempts, and goes on where it was', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${POLICY}, max_attempts: 100}\n`);
      const notifier = makeNotifier(world, 'notifier', 'sys.exit(75)');
      const run = layOwed(world, runIdOf(1), notifier.command);
      const supervisor = await startSupervisor(world);
      await waitUntil('two attempts', () => noticeOf(run)?.attempts === 2 && noticeOf(run).retry, 30_000);
      supervisor.signal('SIGSTOP');
      const frozenAt = notifier.calls().length;
      await sleep(3 * CAP_MS);
      expect(notifier.calls()).toHaveLength(frozenAt);
      supervisor.signal('SIGCONT');
      await waitUntil('the next attempt', () => notifier.calls().length > frozenAt);
      await sleep(LOOK_MS / 2);
      expect(notifier.calls().length).toBeLessThanOrEqual(frozenAt + 1);
      expect(noticeOf(run).attempts).toBe(notifier.calls().length);
    });
  });

  it('case 44: one that was given up is listed', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${POLICY}, max_attempts: 2}\n`);
      const notifier = makeNotifier(world, 'notifier', 'sys.exit(75)');
      const run = layOwed(world, runIdOf(1), notifier.command);
      await startSupervisor(world);
      await waitUntil('it to be given up', () => noticeOf(run)?.retry?.parked, 30_000);
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs).toMatchObject([{ notify_delivery_state: 'failed', notify_retry_state: 'parked' }]);
    });
  });
});
