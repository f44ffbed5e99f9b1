import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import type { Json } from '../support/json-tree.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { endOf, layGone, noticeOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

interface Fault {
  readonly members: Readonly<Record<string, Json>>;
  /** Every reason that blocks it, as the record must name them. */
  readonly error: string;
}

const NO_SENDER = 'delivery_command_needs_a_sender_and_none_was_given';
const NO_CWD = 'delivery_cwd_is_not_a_directory';

/** What can be known before anything is tried. */
function faultsIn(world: World): Record<string, Fault> {
  const notifier = makeNotifier(world, 'notifier', '', ['{sender}']);
  const plain = makeNotifier(world, 'plain').command;
  const gone = join(world.root, 'deleted');
  const script = join(world.bin, 'not-executable');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o644 });
  return {
    'a placeholder for the sender and none given': {
      members: { notify_command: notifier.command },
      error: NO_SENDER,
    },
    'submit_cwd deleted': { members: { notify_command: plain, submit_cwd: gone }, error: NO_CWD },
    'both at once': {
      members: { notify_command: notifier.command, submit_cwd: gone },
      error: `${NO_CWD}, ${NO_SENDER}`,
    },
    'argv not valid JSON': {
      members: { notify_command: '["broken' },
      error: 'delivery_command_is_not_valid_json',
    },
    'argv no list of strings': {
      members: { notify_command: '[1]' },
      error: 'delivery_command_is_not_a_list_of_strings',
    },
    'program not executable': {
      members: { notify_command: JSON.stringify([script]) },
      error: 'PermissionError',
    },
    'program missing': {
      members: { notify_command: JSON.stringify([join(world.bin, 'nobody')]) },
      error: 'FileNotFoundError',
    },
  };
}

const NAMES = [
  'a placeholder for the sender and none given',
  'submit_cwd deleted',
  'both at once',
  'argv not valid JSON',
  'argv no list of strings',
  'program not executable',
  'program missing',
];

describe('case 62: a permanent misconfiguration is named at once and not tried again', () => {
  it.concurrent.each(NAMES)(
    'case 62: %s: a reap records it with every reason, parks it, and nothing is ever started',
    async (name) => {
      await inWorld(async (world) => {
        const { members, error } = faultsIn(world)[name] as Fault;
        const run = await layGone(world, runIdOf(1), members);
        const first = await askData(world, ['job', 'status', run.runId]);
        expect(endOf(run)).toEqual(REAPED);
        expect(first).toMatchObject({ notify_delivery_state: 'failed', notify_retry_state: 'parked' });
        expect(noticeOf(run)).toMatchObject({
          ok: false,
          error,
          retry: {
            parked: { reason: expect.any(String), config_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
          },
        });
        expect(noticeOf(run).retry.next_at).toBeUndefined();
        expect(noticeOf(run).attempts ?? 0).toBeLessThanOrEqual(1);

        const before = run.text();
        for (const args of [
          ['job', 'status', run.runId],
          ['job', 'list'],
          ['job', 'wait', run.runId],
        ])
          await askData(world, args);
        await runLion(['hook', 'terminal', '--run-id', run.runId], world);
        expect(noticeOf(run).error).toBe(error);
        expect(run.record().get('finished_at')).toBe(JSON.parse(before).finished_at);
        expect(readdirSync(world.root).filter((entry) => entry.endsWith('.log'))).toEqual([]);
        expect((await runLion(['job', 'list'], world)).stdout).toContain('notice:parked');
      });
    },
  );

  it('case 62: the supervisor makes one attempt at most too, and goes on', async () => {
    await inWorld(async (world) => {
      const faults = Object.values(faultsIn(world));
      const runs = await Promise.all(
        faults.map(({ members }, at) => layGone(world, runIdOf(at + 1), members)),
      );
      const supervisor = await startSupervisor(world);
      await waitUntil('every fault to be recorded', () =>
        runs.every((run) => noticeOf(run)?.retry?.parked !== undefined),
      );
      const before = runs.map((run) => run.text());
      await sleep(2_500); // two looks of the supervisor
      expect(runs.map((run) => run.text())).toEqual(before);
      expect(runs.map((run) => noticeOf(run).error)).toEqual(faults.map(({ error }) => error));
      expect(supervisor.isRunning()).toBe(true);
    });
  });

  it('case 62: the delivery never runs in another folder, though one of that name stands elsewhere', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      mkdirSync(join(world.cwd, 'project'));
      const submitCwd = join(world.work, 'project');
      mkdirSync(submitCwd);
      const run = await layGone(world, runIdOf(1), {
        notify_command: notifier.command,
        submit_cwd: submitCwd,
        cwd: world.cwd,
      });
      rmSync(submitCwd, { recursive: true });
      writeFileSync(submitCwd, 'now a file');
      await askData(world, ['job', 'status', run.runId]);
      expect([noticeOf(run).error, notifier.calls()]).toEqual([NO_CWD, []]);
    });
  });

  it('case 62: the delivery never goes out under another name than the one on the record', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', '', ['{sender}']);
      world.env.LIONAGI_NOTIFY_SENDER = 'somebody else';
      world.env.USER = 'somebody else';
      const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
      await askData(world, ['job', 'status', run.runId]);
      expect([noticeOf(run).error, notifier.calls()]).toEqual([NO_SENDER, []]);
    });
  });

  it('case 62: submit refuses what can never work before anything is on disk', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', '', ['{sender}']);
      const script = join(world.bin, 'not-executable');
      writeFileSync(script, '#!/bin/sh\n');
      chmodSync(script, 0o644);
      const commands = ['["broken', '[]', '[1]', '"text"', notifier.command, JSON.stringify([script])];
      for (const command of commands) {
        const args = ['job', 'submit', '--notify-command', command, '--', '/bin/true'];
        const { error } = await ask(world, args);
        expect([command, error?.kind]).toEqual([command, 'invalid_input']);
      }
      const nowhere = ['job', 'submit', '--cwd', join(world.root, 'deleted'), '--', '/bin/true'];
      expect((await ask(world, nowhere)).error?.kind).toBe('invalid_input');
      expect((await askData(world, ['job', 'list'])).jobs).toEqual([]);
    });
  });
});
