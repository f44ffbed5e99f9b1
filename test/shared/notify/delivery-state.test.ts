import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/json/parse.ts';
import { isObject, type JsonObject } from '../../../shared/json/value.ts';
import { deliveryStateOf, isUnsent, retryStateOf } from '../../../shared/notify/delivery-state.ts';

/** A notice as it stands on a record, and the two words for it. */
const CASES: readonly (readonly [string, string, string, string | null])[] = [
  ['none was configured', '{"attempted": false}', 'none', null],
  ['none was configured, and said to be owed nothing', '{"attempted": false, "owed": false}', 'none', null],
  ['it is owed', '{"attempted": false, "owed": true}', 'none', 'owed'],
  [
    'it is owed after a while',
    '{"attempted": false, "owed": true, "next_at": "2026-08-01T00:00:00+00:00"}',
    'none',
    'owed',
  ],
  ['it is history', '{"attempted": false, "owed": false, "skipped": "beyond_horizon"}', 'none', 'skipped'],
  ['it arrived', '{"attempted": true, "ok": true, "exit_code": 0}', 'delivered', null],
  ['it arrived, verified', '{"attempted": true, "ok": true, "delivery_verified": true}', 'delivered', null],
  [
    'it was sent and not verified',
    '{"attempted": true, "ok": true, "delivery_verified": false}',
    'delivered_unverified',
    null,
  ],
  ['it failed', '{"attempted": true, "ok": false, "exit_code": 1}', 'failed', null],
  [
    'it failed and is tried again',
    '{"attempted": true, "ok": false, "owed": true, "retry": {"next_at": "2026-08-01"}}',
    'failed',
    'retrying',
  ],
  [
    'it failed and is parked',
    '{"attempted": true, "ok": false, "owed": true, "retry": {"parked": {"reason": "x"}}}',
    'failed',
    'parked',
  ],
  [
    'it could not be started',
    '{"attempted": false, "ok": false, "error": "delivery_command_is_empty"}',
    'failed',
    null,
  ],
  [
    'it ran out of time',
    '{"attempted": true, "ok": false, "error": "TimeoutExpired", "delivery_verified": false}',
    'unknown',
    null,
  ],
  [
    'it is on its way, or its sender is gone',
    '{"attempted": true, "ok": null, "owed": true, "claim": {"nonce": "x"}}',
    'unknown',
    null,
  ],
  ['a Python program began it', '{"attempted": true}', 'unknown', null],
  ['a Python program left an error', '{"error": "delivery_outcome_unknown"}', 'unknown', null],
  ['an object that says nothing', '{}', 'none', null],
  ['ok without attempted', '{"ok": true}', 'delivered', null],
  ['owed is no boolean', '{"attempted": false, "owed": 1}', 'none', null],
  [
    'a time to try again that is no text',
    '{"attempted": true, "ok": false, "retry": {"next_at": 5}}',
    'failed',
    null,
  ],
  ['parked by a word', '{"attempted": true, "ok": false, "retry": {"parked": "x"}}', 'failed', null],
  ['no object', '"sent"', 'none', null],
  ['a list', '[true]', 'none', null],
  ['null', 'null', 'none', null],
];

describe('the words for a notice', () => {
  it.each(CASES)('%s', (_what, text, state, retry) => {
    const delivery = parseJson(text);
    expect([deliveryStateOf(delivery), retryStateOf(delivery)]).toEqual([state, retry]);
  });

  it('nothing on the record at all is none', () => {
    expect([deliveryStateOf(undefined), retryStateOf(undefined)]).toEqual(['none', null]);
  });

  const member = fc.constantFrom(
    ...['"attempted": true', '"attempted": false', '"attempted": 1', '"attempted": null'],
    ...['"ok": true', '"ok": false', '"ok": null', '"ok": 0', '"error": "x"', '"error": ""'],
    ...['"delivery_verified": false', '"delivery_verified": true', '"owed": true', '"owed": false'],
    ...['"skipped": "beyond_horizon"', '"retry": {"next_at": "x"}', '"retry": {"parked": {}}', '"claim": {}'],
  );
  const delivery = fc.array(member, { maxLength: 7 }).map((members) => parseJson(`{${members.join(',')}}`));

  it('are of a closed set, whatever an object holds', () => {
    fc.assert(
      fc.property(delivery, (each) => {
        expect(['none', 'delivered', 'delivered_unverified', 'failed', 'unknown']).toContain(
          deliveryStateOf(each),
        );
        expect(['owed', 'retrying', 'parked', 'skipped', null]).toContain(retryStateOf(each));
      }),
    );
  });

  it('never say delivered without an ok, nor owed once an attempt has begun', () => {
    fc.assert(
      fc.property(delivery, (each) => {
        if (!isObject(each)) return;
        if (deliveryStateOf(each).startsWith('delivered'))
          expect([true, undefined]).not.toContain(!each.get('ok'));
        if (retryStateOf(each) === 'owed') expect(isUnsent(each as JsonObject)).toBe(true);
      }),
    );
  });
});
