import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { layGone, layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier, type NotifierStandIn } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** One run of each outcome; the cancelled one by a kill of the user's. */
async function layFour(world: World, notifier: NotifierStandIn) {
  const { command } = notifier;
  return {
    succeeded: layOwed(world, runIdOf(1), command),
    failed: layOwed(world, runIdOf(2), command, { status: 'failed' }),
    cancelled: layOwed(world, runIdOf(3), command, {
      status: 'killed',
      outcome: 'cancelled',
      terminal_source: 'mcp_kill',
    }),
    indeterminate: await layGone(world, runIdOf(4), { notify_command: command }),
  };
}

type Outcome = keyof Awaited<ReturnType<typeof layFour>>;

/** Which outcomes were announced, as the notices themselves say. */
function announced(notifier: NotifierStandIn): string[] {
  return notifier.calls().map((call) => JSON.parse(call.stdin).outcome);
}

describe.concurrent('case 83: what is announced is the user\u2019s to choose', () => {
  it.each<[string, string, Outcome[]]>([
    ['by default all four', '', []],
    [
      'only failures and what nobody knows',
      'skip_outcomes: [succeeded, cancelled]',
      ['succeeded', 'cancelled'],
    ],
    ['all but my own kills', 'skip_own_kills: true', ['cancelled']],
  ])(
    'case 83: %s, each with its outcome; what a rule keeps quiet about is skipped, neither failed nor untold',
    async (_what, rule, skipped) => {
      await inWorld(async (world) => {
        configure(world, `notify: {${rule}}\n`);
        const notifier = makeNotifier(world, 'notifier');
        const runs = await layFour(world, notifier);
        await startSupervisor(world);
        const outcomes = Object.keys(runs) as Outcome[];
        await waitUntil('all to be settled', () =>
          outcomes.every((outcome) => noticeOf(runs[outcome]).ok === true || noticeOf(runs[outcome]).skipped),
        );
        await sleep(1_500);
        const told = outcomes.filter((outcome) => !skipped.includes(outcome));
        expect(announced(notifier).sort()).toEqual(told.sort());
        for (const outcome of skipped)
          expect(noticeOf(runs[outcome])).toEqual({ attempted: false, owed: false, skipped: 'by_rule' });
        const { jobs } = await askData(world, ['job', 'list']);
        for (const job of jobs) {
          const isSkipped = skipped.includes(job.outcome);
          expect([job.notify_delivery_state, job.notify_retry_state]).toEqual(
            isSkipped ? ['none', 'skipped'] : ['delivered', null],
          );
        }
      });
    },
  );
});
