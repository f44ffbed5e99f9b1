import { JsonNumber } from './json-tree.ts';
import type { LaidRun } from './lay-run.ts';
import { jsonObject, layEnded, runIdOf, secondsAgo } from './runs-of-all-sorts.ts';
import type { World } from './world.ts';

const FAILED = {
  attempted: true,
  ok: false,
  exit_code: new JsonNumber('3'),
  error: null,
  failure_class: 'unknown',
};

/** What a record may say of its notice, by the words of `lion notify list`. */
export const DELIVERIES = {
  owed: { attempted: false, owed: true },
  retrying: {
    ...FAILED,
    failure_class: 'connection_failed',
    owed: true,
    delivery_id: 'an-id',
    attempts: new JsonNumber('4'),
    retry: jsonObject({ next_at: secondsAgo(-600.5) }),
  },
  parked: {
    attempted: true,
    ok: false,
    exit_code: null,
    error: 'FileNotFoundError',
    failure_class: 'unknown',
    owed: true,
    attempts: new JsonNumber('1'),
    retry: jsonObject({ parked: jsonObject({ reason: 'notifier_cannot_start', config_hash: 'h' }) }),
  },
  skipped: { attempted: false, owed: false, skipped: 'beyond_horizon' },
  failed: FAILED,
  unknown: { attempted: true, ok: null, exit_code: null, error: 'delivery_outcome_unknown', command: null },
  delivered: { attempted: true, ok: true, exit_code: new JsonNumber('0'), error: null },
};

export type Sort = keyof typeof DELIVERIES;
export const SORTS = Object.keys(DELIVERIES) as Sort[];

/** An ended run with such a notice; its notifier is the record's, if one is given. */
export function layNotice(world: World, n: number, sort: Sort, command: string | null = null): LaidRun {
  return layEnded(world, runIdOf(n), 'completed', {
    label: `the ${sort} one`,
    notify_command: command,
    notify_delivery: jsonObject(DELIVERIES[sort]),
  });
}
