import { describe, expect, it } from 'vitest';
import { type ConditionFacts, conditionOf } from '../../../shared/daemon/condition.ts';
import type { Health } from '../../../shared/daemon/health.ts';

const NOW = Date.parse('2026-12-01T12:00:00Z');
const OURS = { version: '1.2.0', indexVersion: 3 };

function ago(seconds: number): string {
  return new Date(NOW - seconds * 1000).toISOString().replace('Z', '000+00:00');
}

function healthOf(members: Partial<Health> = {}): Health {
  return {
    pid: 4711,
    version: '1.2.0',
    index_version: 3,
    started_at: ago(600),
    updated_at: ago(5),
    jobs_dir: '/home/a/.lionagi/mcp/jobs',
    runs: 3,
    open: 1,
    queue: 0,
    sweeps: { names_at: ago(4), stats_at: null, probed_at: ago(1) },
    watches: 2,
    notices: { under_way: 0, owed: 0, retrying: 0, parked: 0, unknown: 0 },
    degraded: [],
    ...members,
  };
}

function judge(facts: Partial<ConditionFacts>): ReturnType<typeof conditionOf> {
  return conditionOf({
    instance: { running: true, pid: 4711, version: '1.2.0', startedAt: ago(600) },
    health: healthOf(),
    configFault: null,
    ours: OURS,
    now: NOW,
    ...facts,
  });
}

const running = (members: object) => ({
  instance: { running: true as const, pid: 4711, version: '1.2.0', startedAt: ago(600), ...members },
});

describe('how a supervisor is', () => {
  it.each<[string, Partial<ConditionFacts>, string, string[]]>([
    ['all well', {}, 'running', []],
    ['nobody holds the lock', { instance: { running: false } }, 'stopped', ['supervisor_not_running']],
    ['health of 45 s ago', { health: healthOf({ updated_at: ago(45) }) }, 'running', []],
    ['health of 46 s ago', { health: healthOf({ updated_at: ago(46) }) }, 'stalled', ['supervisor_stalled']],
    ['health from the future', { health: healthOf({ updated_at: ago(-90) }) }, 'running', []],
    [
      'a health time that is none',
      { health: healthOf({ updated_at: 'soon' }), ...running({ startedAt: null }) },
      'stalled',
      ['supervisor_stalled'],
    ],
    ['no health yet', { health: null, ...running({ startedAt: ago(3) }) }, 'starting', []],
    ['no health, long after its start', { health: null }, 'stalled', ['supervisor_stalled']],
    [
      'health of another pid',
      { health: healthOf({ pid: 1 }), ...running({ startedAt: ago(3) }) },
      'starting',
      [],
    ],
    [
      'health of the same pid from before its start',
      { health: healthOf({ updated_at: ago(9) }), ...running({ startedAt: ago(3) }) },
      'starting',
      [],
    ],
    ['a lock file that says nothing', running({ pid: null, version: null, startedAt: null }), 'running', []],
    ['damaged health', { health: 'unreadable' }, 'running', ['health_unreadable']],
    ['a configuration that does not parse', { configFault: 'unknown key x' }, 'running', ['config_invalid']],
    ['an older supervisor', running({ version: '1.1.0' }), 'running', ['version_differs']],
    ['a newer supervisor', running({ version: '1.3.0' }), 'running', ['version_differs']],
    ['another index', { health: healthOf({ index_version: 4 }) }, 'running', ['version_differs']],
    ['a supervisor without an index', { health: healthOf({ index_version: null }) }, 'running', []],
  ])('%s', (_what, facts, state, codes) => {
    const found = judge(facts);
    expect([found.state, found.degraded.map(({ code }) => code)]).toEqual([state, codes]);
    expect(found.restartNeeded).toBe(codes.includes('version_differs'));
  });

  it('what it says of itself stands before what is seen from here, each with a cause and a cure', () => {
    const own = { code: 'watch_limit', cause: 'no more watches', cure: 'raise the limit' };
    const found = judge({ health: healthOf({ degraded: [own] }), configFault: 'unknown key x' });
    expect(found.degraded).toEqual([
      own,
      { code: 'config_invalid', cause: 'unknown key x', cure: expect.stringMatching(/\w/) },
    ]);
  });

  it.each<[string, Partial<ConditionFacts>]>([
    ['stopped', { instance: { running: false } }],
    ['of another pid', { health: healthOf({ pid: 1 }) }],
    ['damaged', { health: 'unreadable' }],
  ])('figures of a supervisor that is not the one that runs are not shown: %s', (_what, facts) => {
    expect(judge(facts).health).toBeNull();
  });

  it('case 43: the cause names both versions and both indexes', () => {
    const [found] = judge({
      ...running({ version: '1.1.0' }),
      health: healthOf({ index_version: 2 }),
    }).degraded;
    expect(found?.cause).toMatch(/liond 1\.1\.0 with index 2.*lion 1\.2\.0 with index 3/);
    expect(found?.cure).toContain('restart');
  });
});
