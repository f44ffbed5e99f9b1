import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configure, FAST_RETRIES } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier, type NoticeCall } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const MAX_ATTEMPTS = 4;
const POLICY = `${FAST_RETRIES}, timeout_seconds: 1, max_attempts: ${MAX_ATTEMPTS}`;

/** Owed notices whose notifiers send and exit 0, exit 75 before sending, and send and hang. */
function layThree(world: World) {
  const lay = (n: number, name: string, body: string) => {
    const notifier = makeNotifier(world, name, body);
    return { notifier, run: layOwed(world, runIdOf(n), notifier.command) };
  };
  return {
    sends: lay(1, 'sends', ''),
    refuses: lay(2, 'refuses', 'sys.exit(75)'),
    hangs: lay(3, 'hangs', 'time.sleep(60)'),
  };
}

function payloadOf(call: NoticeCall): { run_id: string; delivery_id: string; attempt: number } {
  return JSON.parse(call.stdin);
}

describe.concurrent('case 36: an ambiguous send is not retried blindly', () => {
  it('case 36: a sent notice goes out once, a clear failure up to the limit, and one that may have arrived once; each start says which delivery and attempt it is', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${POLICY}}\n`);
      const laid = layThree(world);
      await startSupervisor(world);
      const parked = (each: { run: Parameters<typeof noticeOf>[0] }) =>
        noticeOf(each.run)?.retry?.parked?.reason;
      await waitUntil('the retries to run out', () => parked(laid.refuses) === 'attempts_exhausted', 60_000);
      await waitUntil('the hang to be held', () => parked(laid.hangs) === 'outcome_unknown', 30_000);
      await sleep(2_500);
      const counts = Object.values(laid).map(({ notifier }) => notifier.calls().length);
      expect(counts).toEqual([1, MAX_ATTEMPTS, 1]);
      expect(noticeOf(laid.sends.run)).toMatchObject({ ok: true, attempts: 1 });
      expect(noticeOf(laid.hangs.run)).toMatchObject({ ok: false, attempts: 1, delivery_verified: false });
      for (const { notifier, run } of Object.values(laid)) {
        const payloads = notifier.calls().map(payloadOf);
        expect(payloads.map((each) => each.run_id)).toEqual(payloads.map(() => run.runId));
        expect(payloads.map((each) => each.attempt)).toEqual(payloads.map((_, n) => n + 1));
        expect([...new Set(payloads.map((each) => each.delivery_id))]).toEqual([noticeOf(run).delivery_id]);
        for (const call of notifier.calls())
          expect([call.env.LIONAGI_NOTIFY_DELIVERY_ID, call.env.LIONAGI_NOTIFY_ATTEMPT]).toEqual([
            payloadOf(call).delivery_id,
            String(payloadOf(call).attempt),
          ]);
      }
    });
  });

  it('case 36: with retry_unknown the hang is repeated too, up to the limit, under one delivery id', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${POLICY}, retry_unknown: true}\n`);
      const notifier = makeNotifier(world, 'hangs', 'time.sleep(60)');
      const run = layOwed(world, runIdOf(1), notifier.command);
      await startSupervisor(world);
      await waitUntil(
        'it to be given up',
        () => noticeOf(run)?.retry?.parked?.reason === 'attempts_exhausted',
        60_000,
      );
      await sleep(2_500);
      const payloads = notifier.calls().map(payloadOf);
      expect(payloads.map((each) => each.attempt)).toEqual([1, 2, 3, 4]);
      expect(new Set(payloads.map((each) => each.delivery_id)).size).toBe(1);
    });
  });
});
