import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/json/parse.ts';
import { type Json, type JsonObject, toJson } from '../../../shared/json/value.ts';
import type { DeliveryResult } from '../../../shared/notify/deliver.ts';
import { attemptsOn, type ClaimFacts, endMsOf, noticeStep } from '../../../shared/notify/next-step.ts';
import { DEFAULT_NOTIFY_POLICY, type NotifyPolicy } from '../../../shared/notify/policy.ts';
import { adoptedDelivery, parkedDelivery } from '../../../shared/notify/rewrite.ts';
import { settledDelivery } from '../../../shared/notify/settle.ts';
import { formatIso } from '../../../shared/time/iso.ts';

const NOW = Date.UTC(2026, 7, 3, 12);
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const NO_CLAIM: ClaimFacts = { stands: false, deadlineMs: null };
const RETRY_UNKNOWN = { retryUnknown: true };

const SETTLED = { kind: 'settled' };
const ATTEMPT = { kind: 'attempt' };
const ADOPT = { kind: 'adopt' };
const waitUntil = (inMs: number) => ({ kind: 'wait', untilMs: NOW + inMs });
const park = (reason: string) => ({ kind: 'park', reason });
const asleep = (configHash: string) => ({ kind: 'asleep', configHash });

interface Given {
  /** How long ago it ended. */
  readonly agoMs?: number;
  /** `finished_at` as it stands, instead. */
  readonly end?: string;
  /** `notify_delivery` as it stands; null: there is none. */
  readonly delivery: string | null;
  readonly members?: Record<string, string>;
  readonly claim?: ClaimFacts;
  readonly policy?: Partial<NotifyPolicy>;
}

function recordOf({ agoMs, end, delivery, members = {} }: Given): JsonObject {
  const finished = end === undefined ? formatIso(NOW - (agoMs ?? 0)) : parseJson(end);
  return new Map<string, Json>([
    ['status', 'failed'],
    ['spawn_state', 'started'],
    ['finished_at', finished],
    ['terminal_source', 'cli_terminal_hook'],
    ...Object.entries(members),
    ...(delivery === null ? [] : [['notify_delivery', parseJson(delivery)] as const]),
  ]);
}

function stepOf(given: Given) {
  const policy = { ...DEFAULT_NOTIFY_POLICY, ...given.policy };
  return noticeStep(recordOf(given), given.claim ?? NO_CLAIM, NOW, policy);
}

const at = (inMs: number): string => formatIso(NOW + inMs);
const failedAnd = (more: string): string =>
  `{"attempted": true, "ok": false, "exit_code": 1, "owed": true, "delivery_id": "d", ${more}}`;
const parkedFor = (reason: string, more = '"attempts": 1'): string =>
  failedAnd(`${more}, "retry": {"parked": {"reason": "${reason}", "config_hash": "h"}}`);
const LEFT_BEHIND =
  '{"attempted": true, "ok": null, "error": "delivery_outcome_unknown", "owed": true, "delivery_id": "d", "attempts": 1, "claim": {}}';
const TIMED_OUT =
  '{"attempted": true, "ok": false, "delivery_verified": false, "owed": true, "delivery_id": "d", "attempts": 1, "retry": {"parked": {"reason": "outcome_unknown", "config_hash": "h"}}}';
const PYTHON_REAP = { terminal_source: 'mcp_orphan_reaper' };
const OWED = '{"attempted": false, "owed": true}';

function holds(title: string, cases: readonly (readonly [string, Given, object])[]): void {
  describe(title, () => {
    it.each(cases)('%s', (_what, given, step) => expect(stepOf(given)).toEqual(step));
  });
}

holds('design 7: what our writers owe and nobody has sent', [
  ['waits for its sender, who may be about to begin', { agoMs: 0, delivery: OWED }, waitUntil(MINUTE)],
  ['for a minute', { agoMs: MINUTE - 1, delivery: OWED }, waitUntil(1)],
  ['and is then due', { agoMs: MINUTE, delivery: OWED }, ATTEMPT],
  ['is not due before its own time', { agoMs: HOUR, delivery: dueAt(5 * SECOND) }, waitUntil(5 * SECOND)],
  ['is due at its own time', { agoMs: SECOND, delivery: dueAt(0) }, ATTEMPT],
  ['a time that cannot be read is no time', { agoMs: HOUR, delivery: nextAt('"soon"') }, ATTEMPT],
  ['nor is a number', { agoMs: SECOND, delivery: nextAt('5') }, waitUntil(59 * SECOND)],
  ['is not looked at past its expiry', { agoMs: 47 * HOUR, delivery: dueAt(9 * HOUR) }, waitUntil(HOUR)],
  ['is given up at 48 h', { agoMs: 48 * HOUR + 1, delivery: OWED }, park('expired')],
  ['and not before', { agoMs: 48 * HOUR, delivery: OWED }, ATTEMPT],
  [
    'earlier where so configured',
    { agoMs: 2 * HOUR, delivery: OWED, policy: { expiresMs: HOUR } },
    park('expired'),
  ],
  [
    'nothing owed is nothing to do',
    { agoMs: HOUR, delivery: '{"attempted": false, "owed": false}' },
    SETTLED,
  ],
  [
    'owed by another word is not owed',
    { agoMs: HOUR, delivery: '{"attempted": false, "owed": "yes"}' },
    SETTLED,
  ],
  ['owed by a number is not owed', { agoMs: HOUR, delivery: '{"attempted": false, "owed": 1}' }, SETTLED],
  ['history is not announced', { agoMs: HOUR, delivery: skipped('beyond_horizon') }, SETTLED],
  ['nor what a rule keeps quiet about', { agoMs: HOUR, delivery: skipped('by_rule') }, SETTLED],
]);

holds('design 7: what was attempted', [
  ['delivered: nothing follows', { agoMs: HOUR, delivery: delivered('true') }, SETTLED],
  ['a foreign true counts', { agoMs: HOUR, delivery: delivered('1') }, SETTLED],
  ['delivered and still said to be owed', { agoMs: HOUR, delivery: '{"ok": true, "owed": true}' }, SETTLED],
  ['failed, its time has not come', { agoMs: HOUR, delivery: retryAt(SECOND, 3) }, waitUntil(SECOND)],
  ['failed, its time has come', { agoMs: HOUR, delivery: retryAt(0, 3) }, ATTEMPT],
  ['failed, its time was missed', { agoMs: 47 * HOUR, delivery: retryAt(-9 * HOUR, 3) }, ATTEMPT],
  ['failed 11 times', { agoMs: 25 * HOUR, delivery: retryAt(0, 11) }, ATTEMPT],
  ['failed 12 times', { agoMs: 25 * HOUR, delivery: retryAt(0, 12) }, park('attempts_exhausted')],
  [
    'fewer where so configured',
    { agoMs: HOUR, delivery: retryAt(0, 2), policy: { maxAttempts: 2 } },
    park('attempts_exhausted'),
  ],
  ['failed and owed with no time', { agoMs: HOUR, delivery: failedAnd('"attempts": 1') }, ATTEMPT],
  [
    'failed and owed to nobody',
    { agoMs: HOUR, delivery: '{"attempted": true, "ok": false, "owed": false}' },
    SETTLED,
  ],
  ['attempts that are no number are none', { agoMs: HOUR, delivery: failedAnd('"attempts": "12"') }, ATTEMPT],
  [
    'more attempts than a double holds',
    { agoMs: HOUR, delivery: failedAnd(`"attempts": 1${'0'.repeat(400)}`) },
    park('attempts_exhausted'),
  ],
  ['a retry that is no object', { agoMs: HOUR, delivery: failedAnd('"retry": 7') }, ATTEMPT],
]);

holds('design 7: what is parked', [
  ['expired, for a person', { agoMs: HOUR, delivery: parkedFor('expired') }, SETTLED],
  ['exhausted, for a person', { agoMs: HOUR, delivery: parkedFor('attempts_exhausted') }, SETTLED],
  ['a command only its hook knew', { agoMs: HOUR, delivery: parkedFor('command_not_on_record') }, SETTLED],
  ['for a reason we do not know', { agoMs: HOUR, delivery: parkedFor('of_tomorrow') }, SETTLED],
  [
    'a notifier that cannot be used sleeps',
    { agoMs: HOUR, delivery: parkedFor('notifier_unusable') },
    asleep('h'),
  ],
  [
    'one that cannot start sleeps',
    { agoMs: HOUR, delivery: parkedFor('notifier_cannot_start') },
    asleep('h'),
  ],
  ['one that is gone sleeps', { agoMs: HOUR, delivery: parkedFor('notifier_not_configured') }, asleep('h')],
  [
    'asleep for two days is given up',
    { agoMs: 49 * HOUR, delivery: parkedFor('notifier_unusable') },
    park('expired'),
  ],
  [
    'asleep after the last attempt too',
    { agoMs: HOUR, delivery: parkedFor('notifier_cannot_start', '"attempts": 12') },
    park('attempts_exhausted'),
  ],
  [
    'a hash that is no text',
    {
      agoMs: HOUR,
      delivery: failedAnd('"retry": {"parked": {"reason": "notifier_unusable", "config_hash": 4}}'),
    },
    asleep(''),
  ],
  [
    'a reason that is no text',
    { agoMs: HOUR, delivery: failedAnd('"retry": {"parked": {"reason": []}}') },
    SETTLED,
  ],
]);

holds('design 7: an outcome that is not known', [
  ['is held for a person', { agoMs: HOUR, delivery: LEFT_BEHIND }, park('outcome_unknown')],
  ['and stays held', { agoMs: HOUR, delivery: TIMED_OUT }, SETTLED],
  ['is repeated where so configured', { agoMs: HOUR, delivery: LEFT_BEHIND, policy: RETRY_UNKNOWN }, ATTEMPT],
  ['also one that was held before', { agoMs: HOUR, delivery: TIMED_OUT, policy: RETRY_UNKNOWN }, ATTEMPT],
  ['not for ever', { agoMs: 49 * HOUR, delivery: TIMED_OUT, policy: RETRY_UNKNOWN }, park('expired')],
  [
    'nor without count',
    { agoMs: HOUR, delivery: TIMED_OUT.replace('"attempts": 1', '"attempts": 12'), policy: RETRY_UNKNOWN },
    park('attempts_exhausted'),
  ],
  [
    'of another writer it is settled, configured or not',
    { agoMs: 2 * MINUTE, delivery: '{"attempted": true}', policy: RETRY_UNKNOWN },
    SETTLED,
  ],
]);

holds('design 7: a claim', [
  [
    'that stands is waited for',
    { agoMs: HOUR, delivery: LEFT_BEHIND, claim: claimed(40 * SECOND) },
    waitUntil(5 * SECOND),
  ],
  [
    'to its deadline at most',
    { agoMs: HOUR, delivery: LEFT_BEHIND, claim: claimed(2 * SECOND) },
    waitUntil(2 * SECOND),
  ],
  [
    'even past the expiry',
    { agoMs: 49 * HOUR, delivery: LEFT_BEHIND, claim: claimed(2 * SECOND) },
    waitUntil(2 * SECOND),
  ],
  [
    'without a deadline that can be read',
    { agoMs: HOUR, delivery: LEFT_BEHIND, claim: { stands: true, deadlineMs: null } },
    waitUntil(5 * SECOND),
  ],
  [
    'that has lapsed leaves an unknown outcome',
    { agoMs: HOUR, delivery: LEFT_BEHIND, claim: { stands: false, deadlineMs: NOW + HOUR } },
    park('outcome_unknown'),
  ],
]);

holds('design 7: ends of others', [
  ['have a minute to speak for themselves', { agoMs: 0, delivery: null }, waitUntil(MINUTE)],
  ['to the millisecond', { agoMs: MINUTE - 1, delivery: '{"attempted": false}' }, waitUntil(1)],
  ['are then taken over', { agoMs: MINUTE, delivery: '{"attempted": false}' }, ADOPT],
  ['with no word of a notice too', { agoMs: MINUTE, delivery: null }, ADOPT],
  ['with an object that says nothing too', { agoMs: MINUTE, delivery: '{}' }, ADOPT],
  ['up to 15 minutes', { agoMs: 15 * MINUTE, delivery: null }, ADOPT],
  ['and no longer', { agoMs: 15 * MINUTE + 1, delivery: null }, SETTLED],
  ['a Python reap, never begun', { agoMs: 47 * HOUR, delivery: null, members: PYTHON_REAP }, ADOPT],
  ['up to 48 hours', { agoMs: 48 * HOUR, delivery: '{"attempted": false}', members: PYTHON_REAP }, ADOPT],
  ['and no longer than that', { agoMs: 48 * HOUR + 1, delivery: null, members: PYTHON_REAP }, SETTLED],
  [
    'a Python reap whose notice failed has 15 minutes',
    { agoMs: 16 * MINUTE, delivery: foreignFailure(), members: PYTHON_REAP },
    SETTLED,
  ],
  ['a failure', { agoMs: 2 * MINUTE, delivery: foreignFailure() }, ADOPT],
  ['a failure of old', { agoMs: 16 * MINUTE, delivery: foreignFailure() }, SETTLED],
  [
    'a command that could not be used',
    {
      agoMs: 2 * MINUTE,
      delivery: '{"attempted": false, "ok": false, "error": "delivery_command_is_empty"}',
    },
    ADOPT,
  ],
  ['delivered', { agoMs: 2 * MINUTE, delivery: '{"attempted": true, "ok": true}' }, SETTLED],
  [
    'sent and not verified',
    { agoMs: 2 * MINUTE, delivery: '{"attempted": true, "ok": true, "delivery_verified": false}' },
    SETTLED,
  ],
  [
    'begun, by a program that is gone',
    { agoMs: 2 * MINUTE, delivery: '{"attempted": true, "ok": null}' },
    SETTLED,
  ],
  ['a word where an object belongs', { agoMs: 2 * MINUTE, delivery: '"sent"' }, SETTLED],
  ['a list where an object belongs', { agoMs: 2 * MINUTE, delivery: '[]' }, SETTLED],
  ['false where an object belongs', { agoMs: 2 * MINUTE, delivery: 'false' }, SETTLED],
  [
    'a spawn failure: its submitter was told',
    { agoMs: 2 * MINUTE, delivery: null, members: { spawn_state: 'failed' } },
    SETTLED,
  ],
  [
    'a spawn failure by its source alone',
    { agoMs: 2 * MINUTE, delivery: null, members: { terminal_source: 'spawn_failure' } },
    SETTLED,
  ],
]);

holds('an end that is', [
  ['missing is no end', { end: 'null', delivery: OWED }, SETTLED],
  ['a number of seconds', { end: String(NOW / 1000 - 90), delivery: OWED }, ATTEMPT],
  ['no time of any kind', { end: '"yesterday"', delivery: OWED }, SETTLED],
  ['true', { end: 'true', delivery: OWED }, SETTLED],
  ['an object', { end: '{}', delivery: OWED }, SETTLED],
  ['not a number: it could never expire', { end: 'NaN', delivery: retryAt(0, 1) }, SETTLED],
  ['beyond all time: it could never expire', { end: 'Infinity', delivery: retryAt(0, 1) }, SETTLED],
  ['before all time', { end: '-Infinity', delivery: retryAt(0, 1) }, SETTLED],
  ['in the future, of ours: waited for', { agoMs: -HOUR, delivery: OWED }, waitUntil(HOUR + MINUTE)],
  ['in the future, of another: waited for', { agoMs: -HOUR, delivery: null }, waitUntil(HOUR + MINUTE)],
]);

function dueAt(inMs: number): string {
  return nextAt(`"${at(inMs)}"`);
}

function nextAt(value: string): string {
  return `{"attempted": false, "owed": true, "next_at": ${value}}`;
}

function retryAt(inMs: number, attempts: number): string {
  return failedAnd(`"attempts": ${attempts}, "retry": {"next_at": "${at(inMs)}"}`);
}

function skipped(why: string): string {
  return `{"attempted": false, "owed": true, "skipped": "${why}"}`;
}

function delivered(ok: string): string {
  return `{"attempted": true, "ok": ${ok}, "owed": false, "delivery_id": "d", "attempts": 1}`;
}

function foreignFailure(): string {
  return '{"attempted": true, "ok": false, "exit_code": 1}';
}

function claimed(forMs: number): ClaimFacts {
  return { stands: true, deadlineMs: NOW + forMs };
}

it.each([
  ['none yet', '{}', 0],
  ['no object', '[]', 0],
  ['some', '{"attempts": 3}', 3],
  ['a text', '{"attempts": "3"}', 0],
  ['a fraction', '{"attempts": 3.5}', 0],
  ['fewer than none would allow more than the cap', '{"attempts": -5}', 0],
])('attempts made, as the record counts them: %s', (_what, delivery, attempts) => {
  expect(attemptsOn(parseJson(delivery))).toBe(attempts);
});

const member = fc.constantFrom(
  ...[
    '"attempted": true',
    '"attempted": false',
    '"attempted": "x"',
    '"ok": true',
    '"ok": false',
    '"ok": null',
  ],
  ...['"error": "x"', '"delivery_verified": false', '"owed": true', '"owed": false', '"owed": 1'],
  ...['"skipped": "by_rule"', '"attempts": 3', '"attempts": -1', '"attempts": null', '"delivery_id": "d"'],
  ...['"retry": {"next_at": "2026-08-01T00:00:00+00:00"}', '"retry": {}', '"retry": []', '"claim": {}'],
  ...['"retry": {"parked": {"reason": "outcome_unknown"}}', '"next_at": "2026-08-01T00:00:00+00:00"'],
  ...['"retry": {"parked": {"reason": "notifier_unusable", "config_hash": "h"}}', '"next_at": false'],
);
const anyDelivery = fc.oneof(
  fc.array(member, { maxLength: 8 }).map((members) => `{${members.join(',')}}`),
  fc.constantFrom('null', '"sent"', '[]', 'true', '7'),
);
const anySource = fc.constantFrom('mcp_orphan_reaper', 'mcp_kill', 'cli_terminal_hook', 'lifecycle_cache');
const anyPolicy = fc.record({
  retryUnknown: fc.boolean(),
  maxAttempts: fc.integer({ min: 1, max: 100 }),
  expiresMs: fc.integer({ min: 0, max: 48 * HOUR }),
});

describe('whatever a record holds', () => {
  it('an end older than 48 h is neither sent nor taken over', () => {
    const age = fc.integer({ min: 48 * HOUR + 1, max: 1e12 });
    fc.assert(
      fc.property(anyDelivery, anySource, age, anyPolicy, (delivery, terminal_source, agoMs, policy) => {
        const { kind } = stepOf({ agoMs, delivery, members: { terminal_source }, policy });
        expect(['settled', 'park']).toContain(kind);
      }),
      { numRuns: 2_000 },
    );
  });

  it('nothing is sent while a claim stands', () => {
    fc.assert(
      fc.property(
        anyDelivery,
        fc.integer({ min: 1, max: 60_000 }),
        fc.integer({ min: 0, max: 1e9 }),
        (delivery, forMs, agoMs) => {
          expect(stepOf({ agoMs, delivery, claim: claimed(forMs), policy: RETRY_UNKNOWN }).kind).toBe('wait');
        },
      ),
    );
  });

  it('a notice that has arrived is settled for ever', () => {
    fc.assert(
      fc.property(
        anyDelivery,
        anySource,
        fc.integer({ min: -1e9, max: 1e12 }),
        anyPolicy,
        (text, terminal_source, agoMs, policy) => {
          const parsed = parseJson(text);
          const delivery = parsed instanceof Map ? parsed : new Map<string, Json>();
          const record = recordOf({ agoMs, delivery: null, members: { terminal_source } });
          record.set('notify_delivery', new Map([...delivery, ['ok', true]]));
          const step = noticeStep(record, NO_CLAIM, NOW, { ...DEFAULT_NOTIFY_POLICY, ...policy });
          // An end of another writer is looked at once its own minute is over, and then never again.
          expect(step.kind).toBe('settled');
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('waiting is for a time to come', () => {
    fc.assert(
      fc.property(anyDelivery, fc.integer({ min: -1e9, max: 1e9 }), anyPolicy, (delivery, agoMs, policy) => {
        const step = stepOf({ agoMs, delivery, policy });
        if (step.kind === 'wait') expect(step.untilMs).toBeGreaterThan(NOW);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** What happens to one attempt: a result of the notifier, or its sender is killed and leaves the write-ahead. */
type Fate = 'ok' | 'definite' | 'fault' | 'unknown' | 'killed';
const FATES: readonly Fate[] = ['definite', 'fault', 'unknown', 'killed'];

const RESULTS: Record<Exclude<Fate, 'killed'>, DeliveryResult> = {
  ok: { delivery: toJson({ attempted: true, ok: true }) as JsonObject, failure: null },
  definite: { delivery: toJson({ attempted: true, ok: false }) as JsonObject, failure: 'definite' },
  fault: { delivery: toJson({ attempted: true, ok: false }) as JsonObject, failure: 'fault' },
  unknown: {
    delivery: toJson({ attempted: true, ok: false, delivery_verified: false }) as JsonObject,
    failure: 'unknown',
  },
};

interface Life {
  readonly attempts: readonly number[];
  readonly lastStep: string;
  readonly record: JsonObject;
}

/** Drives one record as supervisors do that come and go, each knowing nothing but the record. */
function live(
  delivery: string | null,
  fateOf: (attempt: number) => Fate,
  random: number,
  policy: NotifyPolicy,
): Life {
  const record = recordOf({ agoMs: 0, delivery });
  const endMs = endMsOf(record) ?? Number.NaN;
  const attempts: number[] = [];
  for (let nowMs = NOW, steps = 0; ; steps++) {
    expect(steps, 'it comes to an end').toBeLessThan(1_000);
    const step = noticeStep(record, NO_CLAIM, nowMs, policy);
    const seen = record.get('notify_delivery');
    if (step.kind === 'settled') return { attempts, lastStep: step.kind, record };
    if (step.kind === 'wait') nowMs = step.untilMs + 1;
    if (step.kind === 'park') record.set('notify_delivery', parkedDelivery(seen, step.reason, ''));
    if (step.kind === 'adopt') record.set('notify_delivery', adoptedDelivery(seen, nowMs));
    // Asleep: the settings have changed, over and over.
    if (step.kind !== 'attempt' && step.kind !== 'asleep') continue;
    const attempt = attemptsOn(seen) + 1;
    attempts.push(nowMs);
    record.set(
      'notify_delivery',
      afterAttempt(fateOf(attempts.length), attempt, endMs, nowMs, random, policy),
    );
    nowMs += 1_000;
  }
}

function afterAttempt(
  fate: Fate,
  attempt: number,
  endMs: number,
  nowMs: number,
  random: number,
  policy: NotifyPolicy,
): Json {
  const kept = { deliveryId: 'd', attempt };
  if (fate === 'killed') {
    return toJson({
      attempted: true,
      ok: null,
      error: 'delivery_outcome_unknown',
      owed: true,
      delivery_id: 'd',
      attempts: attempt,
    });
  }
  return settledDelivery(
    {
      ...kept,
      result: RESULTS[fate],
      source: 'record',
      configHash: 'h',
      environmentLasts: true,
      endMs,
      nowMs,
      random,
    },
    policy,
  );
}

describe('case 75: the attempts at one notice, over any mixture of results and restarts', () => {
  it('never exceed the documented number, and none is later than 48 h after the end', () => {
    const fates = fc.array(fc.constantFrom(...FATES), { minLength: 1, maxLength: 30 });
    const first = fc.constantFrom(OWED, foreignFailure(), null);
    const random = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(
        first,
        fates,
        random,
        fc.boolean(),
        fc.integer({ min: 1, max: 30 }),
        (delivery, each, jitter, retryUnknown, maxAttempts) => {
          const policy = { ...DEFAULT_NOTIFY_POLICY, retryUnknown, maxAttempts };
          const { attempts, record } = live(
            delivery,
            (n) => each[n % each.length] ?? 'definite',
            jitter,
            policy,
          );
          expect(attempts.length).toBeLessThanOrEqual(maxAttempts);
          for (const atMs of attempts) expect(atMs).toBeLessThanOrEqual(NOW + 48 * HOUR);
          expect(attemptsOn(record.get('notify_delivery'))).toBe(attempts.length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('are all made where each fails, and what is given up says why', () => {
    const { attempts, record } = live(OWED, () => 'definite', 0.5, DEFAULT_NOTIFY_POLICY);
    expect(attempts).toHaveLength(12);
    expect((record.get('notify_delivery') as JsonObject).get('retry')).toEqual(
      toJson({ parked: { reason: 'attempts_exhausted', config_hash: 'h' } }),
    );
  });

  it('are all made too where they are to last as long as a notice is good for', () => {
    const policy = { ...DEFAULT_NOTIFY_POLICY, lastsMs: 48 * HOUR };
    expect(live(OWED, () => 'definite', 0.5, policy).attempts).toHaveLength(12);
  });

  it('end with the first that arrives', () => {
    const { attempts } = live(OWED, (n) => (n < 4 ? 'definite' : 'ok'), 0.5, DEFAULT_NOTIFY_POLICY);
    expect(attempts).toHaveLength(4);
  });

  it('a sender killed each time is as good as the cap where unknown ones are repeated, and makes one where not', () => {
    const killed = (policy: Partial<NotifyPolicy>) =>
      live(OWED, () => 'killed', 0.5, { ...DEFAULT_NOTIFY_POLICY, ...policy }).attempts.length;
    expect([killed({}), killed(RETRY_UNKNOWN)]).toEqual([1, 12]);
  });
});
