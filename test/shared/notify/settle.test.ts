import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/json/parse.ts';
import type { JsonObject } from '../../../shared/json/value.ts';
import { LINE_STYLE, writeJson } from '../../../shared/json/write.ts';
import type { DeliveryResult } from '../../../shared/notify/deliver.ts';
import { DEFAULT_NOTIFY_POLICY } from '../../../shared/notify/policy.ts';
import { type Attempted, settledDelivery } from '../../../shared/notify/settle.ts';

const NOW = Date.UTC(2026, 7, 1, 12);
const MINUTE_MS = 60_000;
const NEXT = { next_at: '2026-08-01T12:00:15+00:00' };

type Retry = { readonly next_at: string } | { readonly parked: string } | null;

function attempted(failure: DeliveryResult['failure'], more: Partial<Attempted> = {}): Attempted {
  const ok = failure === null;
  const delivery = parseJson(`{"attempted": true, "ok": ${ok}, "exit_code": 3}`) as JsonObject;
  return {
    result: { delivery, failure },
    deliveryId: 'abc',
    attempt: 1,
    source: 'record',
    configHash: 'h',
    environmentLasts: true,
    endMs: NOW - MINUTE_MS,
    nowMs: NOW,
    random: 0.5,
    ...more,
  };
}

/** What follows, as the record says it. */
function retryOf(given: Attempted, policy = DEFAULT_NOTIFY_POLICY): unknown {
  return JSON.parse(writeJson(settledDelivery(given, policy), LINE_STYLE)).retry ?? null;
}

function expected(retry: Retry): unknown {
  return retry !== null && 'parked' in retry ? { parked: { reason: retry.parked, config_hash: 'h' } } : retry;
}

const RETRY_UNKNOWN = { retryUnknown: true };

describe('ADR-0107 D7: after an attempt that', () => {
  it.each<[string, DeliveryResult['failure'], Partial<Attempted>, object, Retry]>([
    ['arrived, nothing follows', null, {}, {}, null],
    ['arrived at the last try, nothing follows', null, { attempt: 12 }, {}, null],
    ['arrived by a command nobody else knows, nothing follows', null, { source: 'hook' }, {}, null],
    ['failed, the next one has a time', 'definite', {}, {}, NEXT],
    ['failed by the settings, the next one has a time', 'definite', { source: 'settings' }, {}, NEXT],
    [
      'failed for the 11th time, one more is made',
      'definite',
      { attempt: 11, endMs: NOW - 24 * 60 * MINUTE_MS },
      { lastsMs: 0 },
      { next_at: '2026-08-01T12:30:00+00:00' },
    ],
    ['failed for the 12th time, none is', 'definite', { attempt: 12 }, {}, { parked: 'attempts_exhausted' }],
    [
      'failed more often than is allowed by now, none is',
      'definite',
      { attempt: 40 },
      {},
      { parked: 'attempts_exhausted' },
    ],
    [
      'failed once where once is all, none is',
      'definite',
      {},
      { maxAttempts: 1 },
      { parked: 'attempts_exhausted' },
    ],
    [
      'could not start, it sleeps until the settings change',
      'fault',
      {},
      {},
      { parked: 'notifier_cannot_start' },
    ],
    [
      'could not start at the last try, it sleeps too',
      'fault',
      { attempt: 12 },
      {},
      { parked: 'notifier_cannot_start' },
    ],
    ['may have arrived, a person decides', 'unknown', {}, {}, { parked: 'outcome_unknown' }],
    ['may have arrived, it is repeated where so configured', 'unknown', {}, RETRY_UNKNOWN, NEXT],
    [
      'may have arrived at the last try, it is not repeated',
      'unknown',
      { attempt: 12 },
      RETRY_UNKNOWN,
      { parked: 'attempts_exhausted' },
    ],
    [
      'failed by a command only the hook knew',
      'definite',
      { source: 'hook' },
      {},
      { parked: 'command_not_on_record' },
    ],
    [
      'could not start by a command only the hook knew',
      'fault',
      { source: 'hook' },
      {},
      { parked: 'command_not_on_record' },
    ],
    [
      'may have arrived by a command only the hook knew',
      'unknown',
      { source: 'hook' },
      {},
      { parked: 'outcome_unknown' },
    ],
    [
      'failed by the environment of a shell',
      'definite',
      { source: 'environment', environmentLasts: false },
      {},
      { parked: 'command_not_on_record' },
    ],
    [
      'failed by the environment of the supervisor, the next one has a time',
      'definite',
      { source: 'environment' },
      {},
      NEXT,
    ],
    [
      'failed by the record under a hook, the next one has a time',
      'definite',
      { environmentLasts: false },
      {},
      NEXT,
    ],
  ])('%s', (_what, failure, more, policy, retry) => {
    expect(retryOf(attempted(failure, more), { ...DEFAULT_NOTIFY_POLICY, ...policy })).toEqual(
      expected(retry),
    );
  });
});

describe('what goes on the record', () => {
  it('is what the notifier came to, then our own keys; a claim and the write-ahead are gone', () => {
    const delivery = settledDelivery(attempted('definite', { attempt: 4 }), {
      ...DEFAULT_NOTIFY_POLICY,
      lastsMs: 0,
    });
    expect(writeJson(delivery, LINE_STYLE)).toBe(
      '{"attempted":true,"ok":false,"exit_code":3,"owed":true,"delivery_id":"abc","attempts":4,"retry":{"next_at":"2026-08-01T12:02:00+00:00"}}',
    );
  });

  it('says that nothing is owed once it has arrived, under the id and the number of the attempt', () => {
    const delivery = settledDelivery(attempted(null, { attempt: 7 }), DEFAULT_NOTIFY_POLICY);
    expect(writeJson(delivery, LINE_STYLE)).toBe(
      '{"attempted":true,"ok":true,"exit_code":3,"owed":false,"delivery_id":"abc","attempts":7}',
    );
  });

  it('leaves the result it was given as it was', () => {
    const given = attempted('fault');
    settledDelivery(given, DEFAULT_NOTIFY_POLICY);
    expect([...given.result.delivery.keys()]).toEqual(['attempted', 'ok', 'exit_code']);
  });
});
