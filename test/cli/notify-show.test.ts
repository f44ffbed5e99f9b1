import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimNotice } from '../support/claimed-notice.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { layNotice, type Sort } from '../support/notices-of-all-sorts.ts';
import { layAdvisory, replaceRecord, runIdOf, secondsAgo } from '../support/runs-of-all-sorts.ts';
import type { World } from '../support/world.ts';

const RUN = runIdOf(1);
const NONE = { source: 'none', program: null, usable: false, reasons: [] };

function settings(world: World, onTerminal: string): void {
  mkdirSync(join(world.home, '.lionagi'), { recursive: true });
  writeFileSync(join(world.home, '.lionagi', 'settings.yaml'), `notify:\n  on_terminal: ${onTerminal}\n`);
}

async function notifierOf(world: World): Promise<unknown> {
  return (await askData(world, ['notify', 'show', RUN])).notifier;
}

describe('lion notify show', () => {
  it('says where the notifier comes from: the record, the environment, settings, nowhere', async () => {
    await inWorld(async (world) => {
      const run = layNotice(world, 1, 'owed');
      const usable = { usable: true, reasons: [] };
      expect(await notifierOf(world)).toEqual(NONE);
      settings(world, '/opt/from-settings --to someone');
      expect(await notifierOf(world)).toEqual({
        source: 'settings',
        program: '/opt/from-settings',
        ...usable,
      });
      world.env.LIONAGI_MCP_NOTIFY_COMMAND = '["/opt/from-environment"]';
      const environment = { source: 'environment', program: '/opt/from-environment', ...usable };
      expect(await notifierOf(world)).toEqual(environment);
      replaceRecord(run, { notify_command: '["/opt/from-record", "{run_id}"]' });
      expect(await notifierOf(world)).toEqual({ source: 'record', program: '/opt/from-record', ...usable });
    });
  });

  it('gives every reason why a notifier cannot be used', async () => {
    await inWorld(async (world) => {
      const run = layNotice(world, 1, 'owed', '["/opt/it", "{sender}"]');
      replaceRecord(run, { submit_cwd: join(world.root, 'gone') });
      expect(await notifierOf(world)).toEqual({
        source: 'record',
        program: '/opt/it',
        usable: false,
        reasons: ['delivery_cwd_is_not_a_directory', 'delivery_command_needs_a_sender_and_none_was_given'],
      });
      expect((await runLion(['notify', 'show', RUN], world)).stdout).toMatch(
        /\nnotifier +\/opt\/it \(from record\), unusable: delivery_cwd_is_not_a_directory, delivery_command/,
      );
    });
  });

  it('shows nobody the arguments of a notifier', async () => {
    await inWorld(async (world) => {
      layNotice(world, 1, 'owed', '["/opt/it", "--token", "s3cret", "{run_id}"]');
      const [human, machine] = [
        await runLion(['notify', 'show', RUN], world),
        await runLion(['notify', 'show', RUN, '--machine'], world),
      ];
      expect(human.stdout + machine.stdout).toContain('/opt/it');
      expect(human.stdout + machine.stdout).not.toMatch(/s3cret|--token/);
    });
  });

  const NEXT: readonly (readonly [Sort, string, string | null, RegExp])[] = [
    ['owed', 'attempt', null, /due: liond sends it/],
    ['retrying', 'wait', null, /liond sends it when its time has come \(2.*, in (10|9)m\)/],
    ['parked', 'asleep', 'notifier_cannot_start', /when its configuration has changed/],
    ['skipped', 'nothing', null, /such an end is not announced/],
    ['delivered', 'nothing', null, /it was delivered/],
  ];
  it.each(NEXT)('says what happens next with one that is %s', async (sort, step, reason, words) => {
    await inWorld(async (world) => {
      replaceRecord(layNotice(world, 1, sort), { finished_at: secondsAgo(120) });
      const data = await askData(world, ['notify', 'show', RUN]);
      expect(data).toMatchObject({ run_id: RUN, claim_until: null, next: { step, reason } });
      expect((await runLion(['notify', 'show', RUN], world)).stdout).toMatch(
        new RegExp(`\\nnext +.*${words.source}.*\\n`),
      );
    });
  });

  it('says that one is being sent, and until when it is waited for', async () => {
    await inWorld(async (world) => {
      await claimNotice(world, layNotice(world, 1, 'owed'));
      const data = await askData(world, ['notify', 'show', RUN]);
      expect(data).toMatchObject({ claimed: true, next: { step: 'under_way', at: data.claim_until } });
      expect(Math.abs(Date.parse(data.claim_until) - Date.now() - 45_000)).toBeLessThan(20_000);
      expect((await runLion(['notify', 'show', RUN], world)).stdout).toMatch(/\nnotice +under way\n/);
    });
  });

  it('answers for a run that has not ended, and refuses what is no run or no record', async () => {
    await inWorld(async (world) => {
      layAdvisory(world, RUN);
      expect(await askData(world, ['notify', 'show', RUN])).toMatchObject({
        outcome: null,
        next: { step: 'not_ended' },
      });
      expect((await ask(world, ['notify', 'show', 'nobody'])).error?.kind).toBe('not_found');
      writeFileSync(join(world.jobs, RUN, 'job.json'), '{');
      expect((await ask(world, ['notify', 'show', RUN])).error).toMatchObject({
        kind: 'unavailable',
        detail: { record_state: 'unreadable' },
      });
    });
  });
});
