import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { identityOf, layRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layAdvisory, layEnded, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeLi } from '../support/stand-ins.ts';
import { startTimeOf } from '../support/start-time.ts';
import type { World } from '../support/world.ts';

const RUN = runIdOf(1);

/** What status and wait say, and what a script is told. */
async function told(world: World): Promise<unknown> {
  const { status, terminal, outcome } = await askData(world, ['job', 'status', RUN]);
  const wait = await askData(world, ['job', 'wait', RUN]);
  expect(wait.runs[0]).toMatchObject({ status, terminal, outcome });
  const { exitCode } = await runLion(['job', 'wait', RUN], world);
  return { status, terminal, outcome, exitCode };
}

describe('case 22: a kill is not passed off as a success', () => {
  it('case 22: SIGKILL from outside: indeterminate', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      await run.process.stop();
      expect(await told(world)).toEqual({
        status: 'exited',
        terminal: true,
        outcome: 'indeterminate',
        exitCode: 1,
      });
    });
  });

  it('case 22: li kill, which is recorded in the lifecycle store alone: cancelled', async () => {
    await inWorld(async (world) => {
      makeLi(world, 'answer(True, "cancelled")');
      const run = await layLive(world, RUN);
      await run.process.stop();
      expect(await told(world)).toEqual({
        status: 'cancelled',
        terminal: true,
        outcome: 'cancelled',
        exitCode: 1,
      });
    });
  });

  it('case 22: job kill: killed, and no success', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      const answer = await askData(world, ['job', 'kill', RUN, '--grace', '5']);
      expect(answer).toMatchObject({ run_id: RUN, killed: true });
      expect(await told(world)).toEqual({ status: 'killed', terminal: true, outcome: 'failed', exitCode: 1 });
      expect(await askData(world, ['job', 'status', RUN])).toMatchObject({ terminal_source: 'mcp_kill' });
    });
  });

  it('case 22: ended by the system for want of memory, which it cannot report: indeterminate', async () => {
    await inWorld(async (world) => {
      // It ends as the OOM killer ends a process: by a SIGKILL that it did not see coming.
      const child = spawn('/bin/sh', ['-c', 'read go; kill -9 $$'], {
        env: { ...world.env, LIONAGI_MCP_JOB_RUN_ID: RUN },
        detached: true,
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const pid = child.pid ?? 0;
      layRun(world, RUN, identityOf({ pid, pgid: pid, ...startTimeOf(pid) }));
      const ended = once(child, 'exit');
      child.stdin.end('go\n');
      expect(await ended).toEqual([null, 'SIGKILL']);
      expect(await told(world)).toMatchObject({ outcome: 'indeterminate', exitCode: 1 });
    });
  });

  it('case 22: exit 3 through the hook: failed', async () => {
    await inWorld(async (world) => {
      layAdvisory(world, RUN);
      await runLion(['hook', 'terminal', '--run-id', RUN, '--status', 'failed', '--exit-code', '3'], world);
      expect(await told(world)).toEqual({ status: 'failed', terminal: true, outcome: 'failed', exitCode: 1 });
      expect((await askData(world, ['job', 'status', RUN])).exit_code).toBe(3);
    });
  });

  it.each(['unheard_of', 'succeeded', 'success', 'done', 'ok', 'Completed', 'completed '])(
    'case 22: the unheard-of word %j: shown verbatim, outcome failed',
    async (status) => {
      await inWorld(async (world) => {
        layEnded(world, RUN, status);
        expect(await told(world)).toEqual({ status, terminal: true, outcome: 'failed', exitCode: 1 });
      });
    },
  );

  it('case 22: only completed maps to succeeded, and only all succeeded is exit 0', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      expect(await told(world)).toEqual({
        status: 'completed',
        terminal: true,
        outcome: 'succeeded',
        exitCode: 0,
      });
      layEnded(world, runIdOf(2), 'killed');
      expect((await runLion(['job', 'wait', RUN, runIdOf(2)], world)).exitCode).toBe(1);
    });
  });
});
