import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { parseJson } from '../../../shared/json/parse.ts';
import type { Json, JsonObject } from '../../../shared/json/value.ts';
import { attemptNotice, type Sender } from '../../../shared/notify/attempt-notice.ts';
import { deliveryStateOf, retryStateOf } from '../../../shared/notify/delivery-state.ts';
import { DEFAULT_NOTIFY_POLICY, type NotifyPolicy } from '../../../shared/notify/policy.ts';
import { isSkippedByRule } from '../../../shared/notify/skip-rule.ts';
import { inWorld } from '../../support/in-world.ts';
import type { Json as LaidJson } from '../../support/json-tree.ts';
import {
  jsonObject,
  layEnded,
  noticeOf,
  REAPED,
  runIdOf,
  secondsAgo,
} from '../../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../../support/stand-ins.ts';
import type { World } from '../../support/world.ts';

/** How each outcome comes to stand on a record. */
const ENDS: readonly (readonly [string, Record<string, string>])[] = [
  ['succeeded', { status: 'completed' }],
  ['failed', { status: 'failed' }],
  ['cancelled', { status: 'cancelled', terminal_source: 'mcp_kill' }],
  ['indeterminate', REAPED],
];

function recordOf(members: Record<string, Json>): JsonObject {
  return new Map<string, Json>([['finished_at', '2026-08-01T00:00:00+00:00'], ...Object.entries(members)]);
}

function skips(members: Record<string, Json>, policy: Partial<NotifyPolicy>): boolean {
  return isSkippedByRule(recordOf(members), { ...DEFAULT_NOTIFY_POLICY, ...policy });
}

describe('case 83: a rule keeps quiet about', () => {
  it.each(ENDS)('%s: by default about none', (_outcome, members) => {
    expect(skips(members, {})).toBe(false);
  });

  it.each(ENDS)('%s: about the outcomes it names and no others', (outcome, members) => {
    const others = ENDS.map(([each]) => each).filter((each) => each !== outcome);
    expect([skips(members, { skipOutcomes: [outcome] }), skips(members, { skipOutcomes: others })]).toEqual([
      true,
      false,
    ]);
  });

  it.each<[string, Record<string, Json>, boolean]>([
    ['a kill by hand', { status: 'cancelled', terminal_source: 'mcp_kill' }, true],
    ['a cancel that was no kill', { status: 'cancelled', terminal_source: 'cli_terminal_hook' }, false],
    ['an orphan', REAPED, false],
    ['a source of another type', { status: 'failed', terminal_source: parseJson('["mcp_kill"]') }, false],
  ])('own kills: %s', (_what, members, skipped) => {
    expect(skips(members, { skipOwnKills: true })).toBe(skipped);
  });

  it('goes by the outcome that is recorded, before the one a status suggests', () => {
    expect(skips({ status: 'completed', outcome: 'failed' }, { skipOutcomes: ['succeeded'] })).toBe(false);
  });
});

const SUPERVISOR: Sender = { role: 'supervisor', won: false };

async function engineWith(world: World, policy: Partial<NotifyPolicy>): Promise<Engine> {
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  return { ...engine, config: { ...engine.config, notify: { ...engine.config.notify, ...policy } } };
}

function layOwed(
  world: World,
  command: string,
  members: Record<string, Json>,
  delivery: Record<string, LaidJson> = {},
) {
  return layEnded(world, runIdOf(1), 'failed', {
    finished_at: secondsAgo(90),
    notify_command: command,
    notify_delivery: jsonObject({ attempted: false, owed: true, ...delivery }),
    ...members,
  });
}

describe('case 83: what is sent', () => {
  it.each(ENDS)('%s: is sent by default', async (_outcome, members) => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layOwed(world, notifier.command, members);
      await attemptNotice(await engineWith(world, {}), run.runId, SUPERVISOR);
      expect([noticeOf(run).ok, notifier.calls()[0]?.args[1]]).toEqual([true, members.status]);
    });
  });

  it('a rule starts no notifier and is a state of its own: no failure, and not never attempted', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layOwed(world, notifier.command, { status: 'cancelled', terminal_source: 'mcp_kill' });
      const engine = await engineWith(world, { skipOwnKills: true });
      for (const sender of [{ role: 'winner' }, SUPERVISOR, SUPERVISOR] as Sender[])
        await attemptNotice(engine, run.runId, sender);
      expect(notifier.calls()).toEqual([]);
      expect(noticeOf(run)).toEqual({ attempted: false, owed: false, skipped: 'by_rule' });
      const delivery = run.record().get('notify_delivery') as Json;
      expect([deliveryStateOf(delivery), retryStateOf(delivery)]).toEqual(['none', 'skipped']);
    });
  });

  it('a person may send what a rule keeps quiet about', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = layOwed(world, notifier.command, {}, { owed: false, skipped: 'by_rule' });
      const engine = await engineWith(world, { skipOutcomes: ['failed'] });
      await attemptNotice(engine, run.runId, { role: 'person' });
      expect([notifier.calls().length, noticeOf(run).ok, noticeOf(run).skipped]).toEqual([
        1,
        true,
        undefined,
      ]);
    });
  });

  it('a notice that failed before there was the rule is no more repeated, and keeps what is known of it', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const failed = {
        attempted: true,
        ok: false,
        delivery_id: 'd',
        retry: jsonObject({ next_at: secondsAgo(1) }),
      };
      const run = layOwed(world, notifier.command, {}, failed);
      await attemptNotice(await engineWith(world, { skipOutcomes: ['failed'] }), run.runId, SUPERVISOR);
      const notice = { attempted: true, owed: false, ok: false, delivery_id: 'd', skipped: 'by_rule' };
      expect([notifier.calls().length, noticeOf(run)]).toEqual([0, notice]);
    });
  });
});
