import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { claimNotice } from '../support/claimed-notice.ts';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { layNotice, SORTS } from '../support/notices-of-all-sorts.ts';
import { jsonObject, layEnded, layGone, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import type { World } from '../support/world.ts';

const SGR = /\u001b\[[0-9;]*m/g;

function layAllSorts(world: World): void {
  SORTS.forEach((sort, n) => {
    layNotice(world, n, sort);
  });
}

async function labelsOf(world: World, ...args: string[]): Promise<string[]> {
  const { notices } = await askData(world, ['notify', 'list', ...args]);
  return notices.map(({ label }: { label: string }) => label.replace(/^the (.*) one$/, '$1'));
}

describe('lion notify list', () => {
  it('lists what is not settled, newest first, and nothing that is', async () => {
    await inWorld(async (world) => {
      layAllSorts(world);
      layEnded(world, runIdOf(20), 'completed');
      layEnded(world, runIdOf(21), 'completed', { notify_delivery: null });
      expect(await labelsOf(world)).toEqual(['unknown', 'failed', 'parked', 'retrying', 'owed']);
    });
  });

  it('gives a program all the record says of a notice, and null where it says nothing', async () => {
    await inWorld(async (world) => {
      layAllSorts(world);
      const { notices, truncated, limit } = await askData(world, ['notify', 'list']);
      expect([truncated, limit]).toEqual([false, 50]);
      expect(notices[3]).toEqual({
        run_id: runIdOf(1),
        label: 'the retrying one',
        outcome: 'succeeded',
        finished_at: expect.any(String),
        notify_delivery_state: 'failed',
        notify_retry_state: 'retrying',
        attempts: 4,
        next_at: expect.stringMatching(/^\d{4}-.*\+00:00$/),
        parked_reason: null,
        skipped: null,
        error: null,
        failure_class: 'connection_failed',
        exit_code: 3,
        delivery_id: 'an-id',
        claimed: false,
      });
      expect(notices[2]).toMatchObject({
        notify_retry_state: 'parked',
        parked_reason: 'notifier_cannot_start',
        error: 'FileNotFoundError',
        next_at: null,
      });
      expect(notices[4]).toMatchObject({ attempts: 0, delivery_id: null, exit_code: null, error: null });
    });
  });

  it.each(SORTS)('narrows to those that are %s', async (sort) => {
    await inWorld(async (world) => {
      layAllSorts(world);
      const with_it = sort === 'failed' ? ['failed', 'parked', 'retrying'] : [sort];
      expect(await labelsOf(world, '--state', sort)).toEqual(with_it);
    });
  });

  it('stops at its limit and says that there are more', async () => {
    await inWorld(async (world) => {
      for (const n of [1, 2, 3]) layNotice(world, n, 'owed');
      const of = async (limit: string): Promise<unknown[]> => {
        const { notices, truncated } = await askData(world, ['notify', 'list', '--limit', limit]);
        return [notices.map((notice: { run_id: string }) => notice.run_id), truncated];
      };
      expect(await of('2')).toEqual([[3, 2].map(runIdOf), true]);
      expect(await of('3')).toEqual([[3, 2, 1].map(runIdOf), false]);
      expect((await runLion(['notify', 'list', '--limit', '2'], world)).stdout).toContain('More than 2:');
    });
  });

  it('is not stopped by a damaged record, a missing one, or one that cannot be opened', async () => {
    await inWorld(async (world) => {
      layNotice(world, 1, 'owed');
      writeFileSync(layNotice(world, 2, 'owed').recordFile, 'not JSON');
      writeFileSync(layNotice(world, 3, 'owed').recordFile, '[]');
      mkdirSync(join(world.jobs, runIdOf(4), 'job.json'), { recursive: true });
      mkdirSync(join(world.jobs, runIdOf(5)));
      expect(await labelsOf(world)).toEqual(['owed']);
    });
  });

  it('writes nothing, sends nothing and ends no run', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      const owed = layNotice(world, 1, 'owed', notifier.command);
      const gone = await layGone(world, runIdOf(2), { notify_command: notifier.command });
      const before = [owed, gone].map((run) => readFileSync(run.recordFile, 'utf8'));
      expect(await labelsOf(world)).toEqual(['owed']);
      expect([owed, gone].map((run) => readFileSync(run.recordFile, 'utf8'))).toEqual(before);
      expect(notifier.calls()).toEqual([]);
    });
  });

  it('shows one that is being sent as under way', async () => {
    await inWorld(async (world) => {
      await claimNotice(world, layNotice(world, 1, 'owed'));
      const { notices } = await askData(world, ['notify', 'list']);
      expect(notices).toMatchObject([{ claimed: true, notify_delivery_state: 'unknown', attempts: 1 }]);
      const { stdout } = await runLion(['notify', 'list'], world);
      expect(stdout).toMatch(/ under way +1 +the owed one\n/);
      expect(stdout).not.toContain('unknown');
    });
  });

  it('tells a person what each waits for, when it comes next, and why it failed', async () => {
    await inWorld(async (world) => {
      layAllSorts(world);
      const { stdout, stderr, exitCode } = await runLion(['notify', 'list'], world);
      expect([stderr, exitCode]).toEqual(['', 0]);
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/).slice(1));
      expect(lines).toEqual([
        ['STATE', 'TRIES', 'NEXT', 'WHY', 'LABEL'],
        ['unknown', '0', 'delivery_outcome_unknown', 'the unknown one'],
        ['failed', '0', 'exit 3', 'the failed one'],
        ['parked', '1', 'notifier_cannot_start: FileNotFoundError', 'the parked one'],
        ['retrying', '4', expect.stringMatching(/^in (10|9)m$/), 'connection_failed', 'the retrying one'],
        ['owed', '0', 'due', 'the owed one'],
      ]);
      const skipped = await runLion(['notify', 'list', '--state', 'skipped'], world);
      expect(skipped.stdout).toMatch(/ skipped +0 +beyond_horizon +the skipped one\n/);
    });
  });

  it('fits a terminal of 80 columns and lets no text of a record move it', async () => {
    await inWorld(async (world) => {
      layAllSorts(world);
      layEnded(world, runIdOf(30), 'completed', {
        label: HOSTILE_TEXT.repeat(3),
        notify_delivery: jsonObject({
          attempted: true,
          ok: false,
          error: HOSTILE_TEXT.repeat(3),
          retry: jsonObject({ parked: jsonObject({ reason: HOSTILE_TEXT }) }),
        }),
      });
      const { screen, exitCode } = await lionOnTerminal(world, ['notify', 'list']);
      const seen = screen.replace(SGR, '');
      const lines = seen.trimEnd().split('\n');
      expect([exitCode, lines.length]).toEqual([0, 7]);
      expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([]);
      expect(hostileBits(seen)).toEqual([]);
      for (const sort of ['owed', 'retrying', 'parked', 'failed', 'unknown']) expect(seen).toContain(sort);
    });
  });

  it('says so where all is settled, where there is no store, and where no such state is known', async () => {
    await inWorld(async (world) => {
      expect((await runLion(['notify', 'list'], world)).stdout).toBe('Every notice is settled.\n');
      layNotice(world, 1, 'delivered');
      expect((await runLion(['notify', 'list'], world)).stdout).toBe('Every notice is settled.\n');
      expect((await runLion(['notify', 'list', '--state', 'owed'], world)).stdout).toBe(
        'No notice is owed.\n',
      );
      const { error } = await ask(world, ['notify', 'list', '--state', 'lost']);
      expect(error).toMatchObject({ kind: 'invalid_input', message: expect.stringContaining('parked') });
    });
  });
});
