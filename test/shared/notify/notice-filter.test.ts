import { describe, expect, it } from 'vitest';
import { toJson } from '../../../shared/json/value.ts';
import {
  isInState,
  isSentUnnamed,
  isUnsettled,
  NOTICE_STATES,
} from '../../../shared/notify/notice-filter.ts';

const PARKED = { parked: { reason: 'expired', config_hash: 'h' } };
const FAILED = { attempted: true, ok: false, exit_code: 1, error: null };
const UNKNOWN = { attempted: true, ok: null, error: 'delivery_outcome_unknown' };

/** A delivery, is it unsettled, the states it is in, and those with which `--all` sends it. */
const NOTICES: readonly (readonly [string, unknown, boolean, string[], (string | null)[]])[] = [
  ['none', null, false, [], []],
  ['foreign, never begun', { attempted: false }, false, [], []],
  ['owed', { attempted: false, owed: true }, true, ['owed'], [null, 'owed']],
  ['not owed', { attempted: false, owed: false }, false, [], []],
  ['skipped', { attempted: false, owed: false, skipped: 'by_rule' }, false, ['skipped'], ['skipped']],
  [
    'retrying',
    { ...FAILED, owed: true, retry: { next_at: '2026-08-01T00:00:00+00:00' } },
    true,
    ['retrying', 'failed'],
    [null, 'retrying', 'failed'],
  ],
  ['parked unsent', { attempted: false, owed: true, retry: PARKED }, true, ['parked'], [null, 'parked']],
  [
    'parked after a failure',
    { ...FAILED, retry: PARKED },
    true,
    ['parked', 'failed'],
    [null, 'parked', 'failed'],
  ],
  ['failed for good', FAILED, true, ['failed'], [null, 'failed']],
  ['failed and skipped', { ...FAILED, skipped: 'by_rule' }, false, ['skipped', 'failed'], ['skipped']],
  ['unknown', UNKNOWN, true, ['unknown'], ['unknown']],
  ['unknown and parked', { ...UNKNOWN, retry: PARKED }, true, ['parked', 'unknown'], ['unknown']],
  ['timed out', { ...FAILED, delivery_verified: false }, true, ['unknown'], ['unknown']],
  ['delivered', { attempted: true, ok: true }, false, ['delivered'], []],
  ['unverified', { attempted: true, ok: true, delivery_verified: false }, false, ['delivered'], []],
  ['no object', 'yes', false, [], []],
];

describe('a notice', () => {
  it.each(NOTICES)(
    'that is %s: listed by itself, in states, sent unnamed',
    (_what, plain, open, states, sent) => {
      const delivery = toJson(plain as never);
      expect(isUnsettled(delivery)).toBe(open);
      expect(NOTICE_STATES.filter((state) => isInState(delivery, state))).toEqual(states);
      const all = [null, ...NOTICE_STATES];
      expect(all.filter((state) => isSentUnnamed(delivery, state))).toEqual(sent);
    },
  );
});
