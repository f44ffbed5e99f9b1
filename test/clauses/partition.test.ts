import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../shared/json/value.ts';
import { JsonNumber } from '../../shared/json/value.ts';
import { derive } from '../../shared/run/derive.ts';
import { type Bucket, bucketOf } from '../../shared/run/partition.ts';
import { formatIso } from '../../shared/time/iso.ts';

const NOW = Date.UTC(2026, 7, 1);
const BUCKETS: readonly Bucket[] = ['terminal', 'pending', 'stopped_without_end', 'unresolved_spawn'];
const aged = (seconds: number): string => formatIso(NOW - seconds * 1000);

function bucketIn(members: Readonly<Record<string, Json>>, alive: boolean): Bucket {
  const record: JsonObject = new Map(Object.entries(members));
  return bucketOf(derive(record, alive), record, NOW);
}

const STARTED = { spawn_state: 'started', status: 'running', submitted_at: aged(10_000) };
const PREPARING = { spawn_state: 'preparing', status: 'running' };

describe('ADR-0106 D10: the four buckets of a wait', () => {
  it.each<[string, Readonly<Record<string, Json>>, boolean, Bucket]>([
    ['a running run', STARTED, true, 'pending'],
    ['a started run that is not shown alive', STARTED, false, 'stopped_without_end'],
    ['an old record that is shown alive', { status: 'running' }, true, 'pending'],
    ['an old record that is not', { status: 'running' }, false, 'stopped_without_end'],
    ['an end', { ...STARTED, finished_at: aged(1) }, false, 'terminal'],
    ['an end whose process still runs', { ...STARTED, finished_at: aged(1) }, true, 'terminal'],
    ['a failed spawn', { spawn_state: 'failed' }, false, 'terminal'],
    ['a fresh spawn', { ...PREPARING, submitted_at: aged(5) }, false, 'pending'],
    ['a spawn just before the bound', { ...PREPARING, submitted_at: aged(599.9) }, false, 'pending'],
    ['a spawn at the bound', { ...PREPARING, submitted_at: aged(600) }, false, 'unresolved_spawn'],
    ['an old spawn', { ...PREPARING, submitted_at: aged(30 * 86_400) }, false, 'unresolved_spawn'],
    ['a spawn of nobody knows when', { ...PREPARING, submitted_at: 'yesterday' }, false, 'pending'],
    ['a spawn of tomorrow', { ...PREPARING, submitted_at: aged(-86_400) }, false, 'pending'],
    [
      'an old spawn with an end',
      { ...PREPARING, submitted_at: aged(700), finished_at: aged(1) },
      false,
      'terminal',
    ],
    [
      'the words of an end without one',
      { ...STARTED, status: 'completed', outcome: 'succeeded' },
      false,
      'stopped_without_end',
    ],
  ])('%s', (_what, members, alive, bucket) => {
    expect(bucketIn(members, alive)).toBe(bucket);
  });

  const value = fc.constantFrom<Json>(
    ...[null, true, false, '', 'x', 'completed', 'exited', 'failed', 'started', 'preparing', 'running'],
    ...[aged(5), aged(700), aged(-5), new JsonNumber('0'), new JsonNumber('1.5'), []],
  );
  const odd = (...usual: Json[]) => fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, value);
  const record = fc.record<Record<string, Json>>(
    {
      status: value,
      spawn_state: odd('started', 'preparing', 'failed'),
      finished_at: odd(null),
      submitted_at: odd(aged(5), aged(700)),
      outcome: value,
      reason_code: value,
    },
    { requiredKeys: [], noNullPrototype: true },
  );

  it('hold every record there can be, each in exactly one, and terminal says the same as the record', () => {
    const seen = new Set<Bucket>();
    fc.assert(
      fc.property(record, fc.boolean(), (members, alive) => {
        const bucket = bucketIn(members, alive);
        seen.add(bucket);
        expect(BUCKETS.filter((each) => each === bucket)).toHaveLength(1);
        const ended = (members.finished_at ?? null) !== null || members.spawn_state === 'failed';
        expect(bucket === 'terminal').toBe(ended);
        const { outcome, terminal } = derive(new Map(Object.entries(members)), alive);
        expect([terminal, outcome !== null]).toEqual([ended, ended]);
      }),
      { numRuns: 3_000 },
    );
    expect([...seen].sort()).toEqual([...BUCKETS].sort());
  });

  it('do not depend on the status a record carries', () => {
    fc.assert(
      fc.property(record, fc.boolean(), value, (members, alive, status) => {
        expect(bucketIn({ ...members, status }, alive)).toBe(
          bucketIn({ ...members, status: 'running' }, alive),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('liveness moves a run between pending and stopped, never into or out of an end', () => {
    fc.assert(
      fc.property(record, (members) => {
        const [dead, live] = [bucketIn(members, false), bucketIn(members, true)];
        expect(dead === 'terminal').toBe(live === 'terminal');
        expect(live).not.toBe('stopped_without_end');
      }),
      { numRuns: 2_000 },
    );
  });
});
