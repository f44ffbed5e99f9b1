import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decide,
  type KeepReason,
  type PruneRule,
  type RunFacts,
  type StoreFacts,
} from '../../../shared/run/prune/decide.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 7, 1);

const ENDED: RunFacts = {
  state: 'ended',
  life: 'none_seen',
  noticeSettled: true,
  outcome: 'succeeded',
  endedMs: NOW_MS - 40 * DAY_MS,
  changedMs: NOW_MS - 40 * DAY_MS,
  hasRunName: true,
};
const STORE: StoreFacts = { isAmongNewest: false, storeBytes: 1_000 };
const NO_RULE: PruneRule = {
  olderThanMs: null,
  keepNewest: null,
  maxBytes: null,
  outcomes: null,
  force: false,
};
const OLD: PruneRule = { ...NO_RULE, olderThanMs: 30 * DAY_MS };

function verdict(facts: Partial<RunFacts>, rule: Partial<PruneRule> = OLD, store: Partial<StoreFacts> = {}) {
  const decided = decide({ ...ENDED, ...facts }, { ...STORE, ...store }, { ...NO_RULE, ...rule }, NOW_MS);
  return decided === 'remove' ? 'remove' : decided.keep;
}

describe('what protects a run from being removed', () => {
  it('is nothing, where it has ended, no process of it lives, its notice is settled and the rule covers it', () => {
    expect(verdict({})).toBe('remove');
  });

  const protections: [string, Partial<RunFacts>, KeepReason, 'remove' | KeepReason][] = [
    ['no end on its record', { state: 'open', outcome: null, endedMs: null }, 'not_ended', 'not_ended'],
    ['no end, though its process is gone', { state: 'open' }, 'not_ended', 'not_ended'],
    ['a process of it that lives on after its end', { life: 'alive' }, 'alive', 'alive'],
    ['a process that may be its', { life: 'unknown' }, 'maybe_alive', 'maybe_alive'],
    ['a notice that is not settled', { noticeSettled: false }, 'undelivered', 'remove'],
    ['a damaged record', { state: 'damaged' }, 'damaged', 'remove'],
    ['a damaged record and a process with its mark', { state: 'damaged', life: 'alive' }, 'alive', 'alive'],
    ['having no record yet', { state: 'reserved' }, 'reserved', 'remove'],
    ['having no record yet, and a process', { state: 'reserved', life: 'alive' }, 'alive', 'alive'],
    ['a name no submitter gives', { state: 'reserved', hasRunName: false }, 'reserved', 'reserved'],
  ];
  it.each(protections)('is %s: without and with force', (_, facts, without, forced) => {
    expect([verdict(facts), verdict(facts, { ...OLD, force: true })]).toEqual([without, forced]);
  });

  it.each([
    [25, 'remove'],
    [23, 'reserved'],
    [-1, 'reserved'],
  ])('a reservation of %d hours ago, with force: %s', (hours, expected) => {
    const changedMs = NOW_MS - hours * 3_600_000;
    const facts: Partial<RunFacts> = { state: 'reserved', endedMs: null, changedMs };
    expect(verdict(facts, { keepNewest: 0, force: true })).toBe(expected);
  });
});

describe('what a rule covers', () => {
  it.each([
    ['its end', { endedMs: NOW_MS - 31 * DAY_MS, changedMs: NOW_MS }, 'remove'],
    ['its end', { endedMs: NOW_MS - 29 * DAY_MS, changedMs: 0 }, 'outside_rule'],
    ['its record, where it has no end that can be read', { endedMs: null, changedMs: 0 }, 'remove'],
    [
      'its record, where it has no end that can be read',
      { endedMs: null, changedMs: NOW_MS },
      'outside_rule',
    ],
    ['its record, where its end is in the future', { endedMs: NOW_MS + 1, changedMs: 0 }, 'remove'],
    ['nothing, where both are in the future', { endedMs: NOW_MS + 1, changedMs: NOW_MS + 1 }, 'outside_rule'],
    ['nothing, where there is no time', { endedMs: null, changedMs: null }, 'outside_rule'],
  ])('the age of a run counts from %s: %j is %s', (_, facts, expected) => {
    expect(verdict(facts)).toBe(expected);
  });

  it('a run exactly as old as the rule says is not older', () => {
    expect(verdict({ endedMs: NOW_MS - 30 * DAY_MS })).toBe('outside_rule');
  });

  it.each([
    [{ keepNewest: 5 }, { isAmongNewest: true }, 'outside_rule'],
    [{ keepNewest: 5 }, { isAmongNewest: false }, 'remove'],
    [{ maxBytes: 999 }, {}, 'remove'],
    [{ maxBytes: 1_000 }, {}, 'outside_rule'],
    [{ outcomes: ['failed', 'succeeded'] as const }, {}, 'remove'],
    [{ outcomes: ['failed'] as const }, {}, 'outside_rule'],
  ])('%j over %j: %s', (rule, store, expected) => {
    expect(verdict({}, rule, store)).toBe(expected);
  });

  it('an outcome that is not known is none that was asked for', () => {
    expect(verdict({ state: 'damaged', outcome: null }, { outcomes: ['failed'], force: true })).toBe(
      'outside_rule',
    );
  });
});

const anyTime = fc.option(fc.integer({ min: 0, max: 2 * NOW_MS }));
const anyOutcome = fc.constantFrom('succeeded', 'failed', 'cancelled', 'indeterminate');
const anyFacts: fc.Arbitrary<RunFacts> = fc.record({
  state: fc.constantFrom('ended', 'open', 'damaged', 'reserved'),
  life: fc.constantFrom('none_seen', 'alive', 'unknown'),
  noticeSettled: fc.boolean(),
  outcome: fc.option(anyOutcome),
  endedMs: anyTime,
  changedMs: anyTime,
  hasRunName: fc.boolean(),
});
const anyRule: fc.Arbitrary<PruneRule> = fc.record({
  olderThanMs: fc.option(fc.nat(100 * DAY_MS)),
  keepNewest: fc.option(fc.nat(10)),
  maxBytes: fc.option(fc.nat(2_000)),
  outcomes: fc.option(fc.uniqueArray(anyOutcome)),
  force: fc.boolean(),
});
const anyStore: fc.Arbitrary<StoreFacts> = fc.record({
  isAmongNewest: fc.boolean(),
  storeBytes: fc.nat(2_000),
});

describe('whatever the facts and the rule', () => {
  it('what is removed has an end or no use, nothing of it lives, and every rule given holds', () => {
    const seen = { removed: 0 };
    fc.assert(
      fc.property(anyFacts, anyStore, anyRule, (facts, store, rule) => {
        if (decide(facts, store, rule, NOW_MS) !== 'remove') return;
        seen.removed += 1;
        expect(facts.state).not.toBe('open');
        expect(facts.life).toBe('none_seen');
        if (!rule.force) expect([facts.state, facts.noticeSettled]).toEqual(['ended', true]);
        if (rule.keepNewest !== null) expect(store.isAmongNewest).toBe(false);
        if (rule.maxBytes !== null) expect(store.storeBytes).toBeGreaterThan(rule.maxBytes);
        if (rule.outcomes !== null) expect(rule.outcomes).toContain(facts.outcome);
      }),
      { numRuns: 5_000, seed: 1 },
    );
    expect(seen.removed).toBeGreaterThan(50);
  });

  it('a rule more never removes a run more', () => {
    fc.assert(
      fc.property(anyFacts, anyStore, anyRule, anyRule, (facts, store, rule, more) => {
        const both = {
          ...rule,
          olderThanMs: rule.olderThanMs ?? more.olderThanMs,
          maxBytes: rule.maxBytes ?? more.maxBytes,
        };
        if (decide(facts, store, both, NOW_MS) === 'remove')
          expect(decide(facts, store, rule, NOW_MS)).toBe('remove');
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });
});
