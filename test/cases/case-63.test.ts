import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configure, FAST_RETRIES } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { layGone, layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier, type NotifierStandIn } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

function configureNotifier(world: World, notifier: NotifierStandIn | { file: string }): void {
  mkdirSync(join(world.home, '.lionagi'), { recursive: true });
  writeFileSync(
    join(world.home, '.lionagi', 'settings.yaml'),
    `notify: {on_terminal: {adapter: {kind: exec, argv: [${JSON.stringify(notifier.file)}, "{run_id}"]}}}\n`,
  );
}

function toldBy(notifier: NotifierStandIn): (string | undefined)[] {
  return [...new Set(notifier.calls().map((call) => call.args[0]))];
}

describe.concurrent('case 63: a changed notifier counts at once', () => {
  it('case 63: retries and new ends use the new one without a restart, and a command of the run\u2019s own stays', async () => {
    await inWorld(async (world) => {
      configure(world, `notify: {${FAST_RETRIES}, max_attempts: 100}\n`);
      const [a, b, c] = [
        makeNotifier(world, 'a', 'sys.exit(75)'),
        makeNotifier(world, 'b'),
        makeNotifier(world, 'c'),
      ];
      configureNotifier(world, a);
      const retried = layOwed(world, runIdOf(1), null);
      await startSupervisor(world);
      await waitUntil('A to have failed', () => noticeOf(retried)?.retry !== undefined);
      configureNotifier(world, b);
      const fresh = await layGone(world, runIdOf(2));
      const own = await layGone(world, runIdOf(3), { notify_command: c.command });
      const runs = [retried, fresh, own];
      await waitUntil('three notices', () => runs.every((run) => noticeOf(run)?.ok === true), 30_000);
      expect(toldBy(a)).toEqual([retried.runId]);
      expect(toldBy(b).sort()).toEqual([retried.runId, fresh.runId]);
      expect(toldBy(c)).toEqual([own.runId]);
      expect(b.calls()).toHaveLength(2);
    });
  });

  it('case 63: a notice parked for a notifier that is missing wakes when the setting names another', async () => {
    await inWorld(async (world) => {
      const b = makeNotifier(world, 'b');
      configureNotifier(world, { file: join(world.bin, 'missing') });
      const run = layOwed(world, runIdOf(1), null);
      await startSupervisor(world);
      await waitUntil('it to be parked', () => noticeOf(run)?.retry?.parked !== undefined);
      configureNotifier(world, b);
      await waitUntil('it to be delivered', () => noticeOf(run).ok === true, 30_000);
      expect(toldBy(b)).toEqual([run.runId]);
    });
  });
});
