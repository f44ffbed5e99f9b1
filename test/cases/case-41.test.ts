import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { installInto, through } from '../support/install.ts';
import { runLion } from '../support/lion.ts';
import { endOf, layEnded, layGone, layLive, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { spawnSupervisor, startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('case 41: a native module that no longer loads', () => {
  it('case 41: without SQLite lists scan, and the supervisor goes on without an index and says so', async () => {
    await inWorld(async (world) => {
      const installed = installInto(world, 'upgraded', ['better-sqlite3']);
      layEnded(world, runIdOf(1), 'completed');
      const gone = await layGone(world, runIdOf(2));
      const supervisor = await startSupervisor(world, { main: installed.liond });
      await waitUntil('the gone run to be ended', () => gone.record().get('finished_at'));
      expect(endOf(gone)).toEqual(REAPED);
      expect(existsSync(join(world.lionagiHome, 'mcp', 'liond', 'index.sqlite3'))).toBe(false);
      const call = { ...world, ...through(installed) };
      const list = await runLion(['job', 'list', '--machine'], call);
      expect(list.envelope?.data.jobs).toHaveLength(2);
      expect((await runLion(['job', 'status', runIdOf(1), '--machine'], call)).envelope?.ok).toBe(true);
      const status = await runLion(['daemon', 'status', '--machine'], call);
      expect(status.envelope?.data.degraded).toMatchObject([
        { code: 'index_unavailable', cause: expect.stringContaining('SQLite cannot be loaded') },
      ]);
      expect(supervisor.isRunning()).toBe(true);
    });
  });

  it('case 41: without the lock reads go on, nothing is ended, and what must lock says so once with 78', async () => {
    await inWorld(async (world) => {
      const installed = installInto(world, 'upgraded', ['koffi']);
      const gone = await layGone(world, runIdOf(1));
      const live = await layLive(world, runIdOf(2));
      const started = await spawnSupervisor(world, { main: installed.liond }).ended();
      // 78 is what the unit does not start again.
      expect(started.exitCode).toBe(78);
      const call = { ...world, ...through(installed) };
      const list = await runLion(['job', 'list', '--machine'], call);
      expect(list.envelope?.data.jobs).toMatchObject([
        { run_id: live.runId, terminal: false },
        { run_id: gone.runId, terminal: false, refusal: { code: 'lock_unavailable' } },
      ]);
      const kill = await runLion(['job', 'kill', live.runId, '--machine'], call);
      expect([kill.exitCode, kill.stdout]).toEqual([78, '']);
      expect(kill.stderr).toContain('koffi');
      expect(gone.record().get('finished_at')).toBeNull();
    });
  });
});
