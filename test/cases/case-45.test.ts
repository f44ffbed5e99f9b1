import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import { endPid, isThere } from '../support/processes.ts';
import { layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { type RunningSupervisor, startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const TIMEOUT_S = 5;
const RUN = runIdOf(1);
/** Buffers that await collection take half of it; 50 MB that were kept, and joined, would take twice as much. */
const GROWTH_KB = 60_000;

function sh(script: string): string {
  return JSON.stringify(['/bin/sh', '-c', script]);
}

/** The pids that a notifier left in this file. */
function pidsIn(world: World): number[] {
  return readFileSync(join(world.root, 'pids'), 'utf8').trim().split(/\s+/).map(Number);
}

/** From the supervisor's "sending" to its "notice", by its own log. */
function deliveryMs(world: World): number {
  const at = (kind: string) => Date.parse(supervisorEvents(world, kind)[0]?.time ?? '');
  return at('notice') - at('attempt');
}

async function deliver(world: World, script: string): Promise<RunningSupervisor> {
  configure(world, `notify: {timeout_seconds: ${TIMEOUT_S}}\n`);
  const run = layOwed(world, RUN, sh(script));
  const supervisor = await startSupervisor(world);
  await waitUntil('the result', () => supervisorEvents(world, 'notice').length > 0, 40_000);
  await waitUntil('it to be on the record', () => noticeOf(run)?.claim === undefined);
  return supervisor;
}

function peakKb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe.concurrent('case 45: a notifier with helpers', () => {
  it('case 45: exits 0 with a helper that holds its output: delivered at once, and the helper is left alone', async () => {
    await inWorld(async (world) => {
      await deliver(world, `sleep 60 & echo $! > ${world.root}/pids; exit 0`);
      const [helper = 0] = pidsIn(world);
      world.onDispose(() => endPid(helper));
      expect(supervisorEvents(world, 'notice')[0]).toMatchObject({ state: 'delivered' });
      expect(deliveryMs(world)).toBeLessThan(3_000); // 0.1 s, and what a busy machine takes
      expect(isThere(helper)).toBe(true);
    });
  });

  it('case 45: starts two sleepers and hangs: the whole group is ended at the timeout, and the outcome is unknown', async () => {
    await inWorld(async (world) => {
      await deliver(world, `sleep 60 & a=$!; sleep 60 & echo $$ $a $! > ${world.root}/pids; wait`);
      expect(supervisorEvents(world, 'notice')[0]).toMatchObject({ state: 'unknown' });
      expect(deliveryMs(world)).toBeGreaterThan(TIMEOUT_S * 1000 - 500);
      expect(deliveryMs(world)).toBeLessThan(TIMEOUT_S * 1000 + 5_000);
      expect(pidsIn(world)).toHaveLength(3);
      await waitUntil('all three to be gone', () => pidsIn(world).every((pid) => !isThere(pid)));
    });
  });

  it.each([
    [0, { ok: true, exit_code: 0 }],
    [3, { ok: false, exit_code: 3, failure_class: 'connection_failed' }],
  ])(
    'case 45: prints 50 MB and exits %d: that exit counts, and the memory stays as it was',
    async (code, notice) => {
      await inWorld(async (world) => {
        const ready = `echo connection refused >&2; head -c 50000000 /dev/zero; exit ${code}`;
        // The first notice is the supervisor's own growth into its work.
        const first = layOwed(world, runIdOf(2), sh('exit 0'));
        const supervisor = await startSupervisor(world);
        await waitUntil('the first notice', () => noticeOf(first)?.ok === true);
        const before = peakKb(supervisor.pid);
        const run = layOwed(world, RUN, sh(ready));
        await waitUntil(
          'the result',
          () => noticeOf(run)?.attempts === 1 && noticeOf(run)?.claim === undefined,
          40_000,
        );
        expect(noticeOf(run)).toMatchObject(notice);
        expect(peakKb(supervisor.pid) - before).toBeLessThan(GROWTH_KB);
      });
    },
  );
});
