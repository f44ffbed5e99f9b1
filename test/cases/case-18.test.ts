import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layAdvisory, layGone, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier, type NotifierStandIn } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const RUN = runIdOf(1);

/** It has written its line, which is its effect, when it begins to sleep. */
function slowNotifier(world: World): NotifierStandIn {
  const notifier = makeNotifier(world, 'notifier', 'time.sleep(20)');
  world.onDispose(() => {
    for (const { pid } of notifier.calls()) endQuietly(pid);
  });
  return notifier;
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

const UNKNOWN = {
  attempted: true,
  ok: null,
  exit_code: null,
  error: 'delivery_outcome_unknown',
  attempts: 1,
};

/** Who runs the notifier: starts it and returns how to kill it without a chance to clean up. */
type Sender = (world: World, run: LaidRun) => Promise<() => Promise<unknown>>;

function lionAs(args: (run: LaidRun) => string[]): Sender {
  return async (world, run) => {
    const child = spawn(process.execPath, [LION_MAIN, ...args(run)], {
      env: world.env,
      cwd: world.cwd,
      stdio: 'ignore',
    });
    return async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    };
  };
}

const SENDERS: readonly (readonly [
  string,
  (world: World, members: { notify_command: string }) => Promise<LaidRun>,
  Sender,
])[] = [
  [
    'the supervisor',
    (world, members) => layGone(world, RUN, members),
    async (world) => {
      const supervisor = await startSupervisor(world);
      return () => supervisor.end('SIGKILL');
    },
  ],
  [
    'a reader',
    (world, members) => layGone(world, RUN, members),
    lionAs((run) => ['job', 'status', run.runId]),
  ],
  [
    'the hook',
    async (world, members) => layAdvisory(world, RUN, members),
    lionAs((run) => ['hook', 'terminal', '--run-id', run.runId]),
  ],
];

describe('case 18: what was delivered and then lost its sender is unknown, and never told as not attempted', () => {
  it.concurrent.each(SENDERS)(
    'case 18: kill -9 of %s after the line appears: attempted with unknown outcome, and nobody sends again',
    async (_who, lay, start) => {
      await inWorld(async (world) => {
        const notifier = slowNotifier(world);
        const run = await lay(world, { notify_command: notifier.command });
        const kill = await start(world, run);
        await waitUntil('the line of the notifier', () => notifier.calls().length === 1, 20_000);
        await kill();

        const [first] = notifier.calls();
        expect(noticeOf(run)).toMatchObject(UNKNOWN);
        const end = run.record().get('finished_at');
        expect(end).not.toBeNull();

        const data = await askData(world, ['job', 'status', RUN]);
        expect(data).toMatchObject({
          terminal: true,
          notify_delivery_state: 'unknown',
          notify_delivery: { available: true, value: UNKNOWN },
        });
        const supervisor = await startSupervisor(world);
        for (const args of [
          ['job', 'status', RUN],
          ['job', 'list'],
          ['job', 'wait', RUN],
        ])
          await askData(world, args);
        await runLion(['hook', 'terminal', '--run-id', RUN], world);
        await sleep(2_500); // two looks of the supervisor
        expect(supervisor.isRunning()).toBe(true);

        expect(notifier.calls()).toEqual([first]);
        expect(noticeOf(run)).toMatchObject(UNKNOWN);
        expect(run.record().get('finished_at')).toBe(end);
        expect((await runLion(['job', 'list'], world)).stdout).toContain('notice:unknown');
      });
    },
  );
});
