import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askKill, askLion } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { newRunId } from '../support/new-run-id.ts';
import { startSleeper, type WatchedProcess } from '../support/processes.ts';
import { startPythonWriter } from '../support/python-writer.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const NOBODY = 65_534;

interface Laid {
  run: LaidRun;
  sleeper: WatchedProcess;
}

async function lay(world: World, members: Record<string, string> = {}): Promise<Laid> {
  const runId = newRunId();
  const sleeper = await startSleeper(runId);
  world.onDispose(sleeper.stop);
  return { run: layRun(world, runId, { ...identityOf(sleeper), ...members }), sleeper };
}

/** Signalled, and nothing durable says so. */
async function expectNotRecorded(world: World, { run, sleeper }: Laid, uid?: number): Promise<void> {
  const before = run.text();
  const answer = await askKill(world, run.runId, ['--grace', '0.5'], uid);
  expect(answer).toMatchObject({ killed: true, reason_code: 'kill_not_recorded', gone: true });
  expect(answer.reason).toMatch(/record/);
  expect(answer.already_ended).toBe(false);
  expect(run.text()).toBe(before);
  await waitUntil('the signal to have ended it', () => sleeper.fates()[0] !== 'alive');
  expect(sleeper.fates()).toEqual(['SIGTERM']);
}

describe.concurrent('ADR-0107 Verify by 14: a kill records terminal_source mcp_kill, or reports that it could not', () => {
  it('records its own end, once, with its source, and says so', () =>
    inWorld(async (world) => {
      const from = Date.now();
      const { run, sleeper } = await lay(world);
      const answer = await askKill(world, run.runId, ['--grace', '5']);
      expect(answer).toMatchObject({ killed: true, reason_code: 'signalled', reason: null });
      expect(answer).toMatchObject({ gone: true, already_ended: false, signal: 'SIGTERM' });
      const record = run.record();
      expect(record.get('terminal_source')).toBe('mcp_kill');
      expect(record.get('status')).toBe('killed');
      expect(record.get('finished_at_precision')).toBe('observed');
      const at = String(record.get('finished_at'));
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/);
      expect(Date.parse(at)).toBeGreaterThanOrEqual(from - 1);
      expect(Date.parse(at)).toBeLessThanOrEqual(Date.now() + 1);
      expect(record.has('group_reaped_at')).toBe(false);
      await waitUntil('it to be collected', () => sleeper.fates()[0] !== 'alive');
      const status = await askLion(world, ['job', 'status', run.runId]);
      expect(status).toMatchObject({ terminal: true, terminal_source: 'mcp_kill', finished_at: at });
    }));

  it('does not touch an end that is there, and records beside it that its group was cleared away', () =>
    inWorld(async (world) => {
      const end = { status: 'completed', finished_at: '2026-08-01T12:05:00.500000+00:00' };
      const { run } = await lay(world, { ...end, terminal_source: 'cli_terminal_hook' });
      const answer = await askKill(world, run.runId, ['--grace', '5']);
      expect(answer).toMatchObject({ killed: true, reason_code: 'signalled', already_ended: true });
      const record = run.record();
      expect(Object.fromEntries(record)).toMatchObject({ ...end, terminal_source: 'cli_terminal_hook' });
      expect(record.get('group_reaped_at')).toEqual(expect.any(String));
    }));

  it('reports kill_not_recorded where the lock file cannot be opened', () =>
    inWorld(async (world) => {
      const laid = await lay(world);
      mkdirSync(join(laid.run.dir, 'job.lock'));
      await expectNotRecorded(world, laid);
      const status = await askLion(world, ['job', 'status', laid.run.runId]);
      expect(status).toMatchObject({ terminal: false, terminal_source: null, possibly_orphaned: true });
      expect(status.refusal.code).toBe('lock_unavailable');
    }));

  it('reports kill_not_recorded where another holds the lock for as long as a writer waits', () =>
    inWorld(async (world) => {
      const laid = await lay(world);
      const holder = await startPythonWriter();
      world.onDispose(holder.stop);
      await holder.ask({ do: 'hold', run_dirs: [laid.run.dir] });
      await expectNotRecorded(world, laid);
    }));

  it.skipIf(process.getuid?.() !== 0)('reports kill_not_recorded where the record cannot be replaced', () =>
    inWorld(async (world) => {
      // A user who may signal it and lock its record, and may not make a file beside it.
      const runId = newRunId();
      const sleeper = await startSleeper(runId, NOBODY);
      world.onDispose(sleeper.stop);
      const run = layRun(world, runId, identityOf(sleeper));
      const lock = join(run.dir, 'job.lock');
      writeFileSync(lock, '', { mode: 0o600 });
      chownSync(lock, NOBODY, NOBODY);
      await expectNotRecorded(world, { run, sleeper }, NOBODY);
      expect(readdirSync(run.dir).sort()).toEqual(['job.json', 'job.lock']);
    }),
  );

  it('starts no notifier, and leaves the notice to the hook of the run for a while', () =>
    inWorld(async (world) => {
      const told = join(world.work, 'told');
      const { run } = await lay(world, { notify_command: JSON.stringify(['touch', told]) });
      await askKill(world, run.runId, ['--grace', '1']);
      const delivery = Object.fromEntries(run.record().get('notify_delivery') as Map<string, unknown>);
      expect(delivery).toMatchObject({ attempted: false, owed: true });
      expect(readdirSync(world.work)).toEqual([]);
    }));
});
