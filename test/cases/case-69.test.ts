import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { inPidNamespace, whyNoNamespaces } from '../support/namespaces.ts';
import { endPid } from '../support/processes.ts';
import { layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { type SupervisorStart, startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A claim stands for this and 15 s more, unless its owner is seen to be gone. */
const TIMEOUT_S = 4;
const CLAIM_MS = (TIMEOUT_S + 15) * 1_000;
const SLACK_MS = 15_000;

/** Kills a supervisor in the middle of a slow notice and returns what the next one makes of it, and how soon. */
async function succeed(start: SupervisorStart, policy = '') {
  return inWorld(async (world) => {
    configure(world, `notify: {timeout_seconds: ${TIMEOUT_S}${policy}}\n`);
    const notifier = makeNotifier(world, 'notifier', 'time.sleep(60)');
    const first = await startSupervisor(world, start);
    const run = layOwed(world, runIdOf(1), notifier.command);
    await waitUntil('the notice to be on its way', () => notifier.calls().length === 1);
    const { claim } = noticeOf(run);
    await first.end('SIGKILL');
    // A supervisor that is killed cannot end the notifier it had started.
    for (const call of notifier.calls()) endPid(call.pid);
    const killedMs = Date.now();
    await startSupervisor(world, start);
    await waitUntil(
      'the attempt to be resolved',
      () => noticeOf(run).claim === undefined,
      CLAIM_MS + SLACK_MS,
    );
    const resolvedMs = Date.now() - killedMs;
    await sleep(3_000);
    for (const call of notifier.calls().slice(1)) endPid(call.pid);
    return {
      claim,
      notice: noticeOf(run),
      resolvedMs,
      calls: notifier.calls(),
      events: supervisorEvents(world),
    };
  });
}

const whyNot = whyNoNamespaces();

describe.concurrent('case 69: a predecessor\u2019s claim is not taken for one\u2019s own', () => {
  it('case 69: the next supervisor sees that the claim\u2019s owner is gone, holds the notice as unknown, and sends nothing', async () => {
    const { notice, resolvedMs, calls, events } = await succeed({});
    expect(notice).toMatchObject({ ok: null, attempts: 1, retry: { parked: { reason: 'outcome_unknown' } } });
    expect(resolvedMs).toBeLessThan(CLAIM_MS - 4_000);
    expect(calls).toHaveLength(1);
    expect(events.filter((each) => each.event === 'notice')).toMatchObject([
      { state: 'unknown', next: 'parked', parked: 'outcome_unknown' },
    ]);
  });

  it('case 69: with retry_unknown it is sent again, by the next supervisor', async () => {
    const { calls } = await succeed({}, ', retry_unknown: true, backoff_base_seconds: 0.1');
    expect(calls.map((call) => JSON.parse(call.stdin).attempt).slice(0, 2)).toEqual([1, 2]);
  });

  it.skipIf(whyNot !== null)(
    `case 69: the same where both are pid 1 of a namespace of their own, once the claim has run out${whyNot === null ? '' : ` (skipped: ${whyNot})`}`,
    async () => {
      const through = `exec ${inPidNamespace('with its own /proc').join(' ')} "$@"`;
      const { claim, notice, resolvedMs, calls } = await succeed({ through });
      expect(claim.pid).toBe(1);
      expect(notice).toMatchObject({
        ok: null,
        attempts: 1,
        retry: { parked: { reason: 'outcome_unknown' } },
      });
      expect(resolvedMs).toBeGreaterThan(CLAIM_MS - 8_000);
      expect(calls).toHaveLength(1);
    },
  );
});
