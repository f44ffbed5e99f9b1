import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDigest, readFacts, toBlock } from '../../../shared/index/block.ts';
import type { IndexRow } from '../../../shared/index/schema.ts';
import { NOTICE_STATES } from '../../../shared/notify/notice-filter.ts';
import { type ListFilter, matchesFacts, NO_FILTER, sieveOf } from '../../../shared/run/list-filter.ts';
import { rowOf, runIdAt } from '../../daemon/index/rows.ts';

const word = fc.constantFrom(null, 'a', 'b', 'c');
const time = fc.option(fc.integer({ min: 0, max: 9 }), { nil: null });

const rows: fc.Arbitrary<IndexRow[]> = fc
  .array(
    fc.record({
      settled: fc.boolean(),
      status: word,
      outcome: fc.constantFrom('succeeded', 'failed', 'indeterminate'),
      kind: word,
      label: fc.oneof(word, fc.string()),
      reasonCode: word,
      submittedMs: time,
      notifyState: fc.constantFrom(null, 'none', 'failed', 'delivered_unverified'),
      retryState: fc.constantFrom(null, 'parked', 'skipped'),
      tags: fc.array(fc.constantFrom('a', 'b', 'c')),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((facts) => facts.map((changes, at) => rowOf(runIdAt(1000 - at), changes)));

const filter: fc.Arbitrary<ListFilter> = fc.record({
  status: word,
  outcome: fc.constantFrom(null, 'succeeded' as const, 'cancelled' as const),
  state: fc.constantFrom(null, 'open' as const, 'terminal' as const),
  kind: word,
  label: fc.constantFrom(null, 'a*', '?', '*z'),
  tag: word,
  notifyState: fc.option(fc.constantFrom(...NOTICE_STATES), { nil: null }),
  reason: word,
  sinceMs: time,
  untilMs: time,
  degraded: fc.constant(false),
});

function opened(from: readonly IndexRow[]) {
  const [last, first, runs, digest, digestSum, facts, factsSum] = toBlock(from) as string[];
  if (digest === undefined || facts === undefined) throw new Error('no block');
  return { last, first, runs, digest, digestSum: digestSum ?? '', facts, factsSum: factsSum ?? '' };
}

describe('a block', () => {
  it('says of each run what its row says', () => {
    fc.assert(
      fc.property(rows, (from) => {
        const { digest, facts, factsSum } = opened(from);
        const runs = readFacts(digest, facts, factsSum);
        expect(runs?.map(({ runId }) => runId)).toEqual(from.map(({ runId }) => runId));
        for (const [at, row] of from.entries()) {
          const settled = runs?.[at]?.settled ?? null;
          expect(settled === null).toBe(!row.settled);
          if (settled !== null) expect(row).toMatchObject(settled);
        }
      }),
    );
  });

  it('is never passed over by a filter that one of its settled runs matches', () => {
    let passedOver = 0;
    fc.assert(
      fc.property(rows, filter, (from, wanted) => {
        const { digest, digestSum } = opened(from);
        const read = readDigest(digest, digestSum);
        if (read === null) throw new Error('no digest');
        const hits = from.filter((row) => row.settled && matchesFacts(wanted, row)).length;
        if (sieveOf(wanted).admits(read)) return;
        passedOver += 1;
        expect(hits).toBe(0);
      }),
      { numRuns: 3_000 },
    );
    expect(passedOver).toBeGreaterThan(100);
  });

  it('holds back no run that matches, and none that has to be looked at', () => {
    let heldBack = 0;
    fc.assert(
      fc.property(rows, filter, (from, wanted) => {
        const { digest, facts, factsSum } = opened(from);
        const ids = readFacts(digest, facts, factsSum, sieveOf(wanted).values)?.map(({ runId }) => runId);
        const due = from.filter((row) => !row.settled || matchesFacts(wanted, row));
        expect(ids).toEqual(expect.arrayContaining(due.map(({ runId }) => runId)));
        heldBack += from.length - (ids?.length ?? 0);
      }),
      { numRuns: 1_000 },
    );
    expect(heldBack).toBeGreaterThan(1_000);
  });

  it('counts its settled runs by outcome, and names the others', () => {
    fc.assert(
      fc.property(rows, (from) => {
        const { digest, digestSum } = opened(from);
        const read = readDigest(digest, digestSum);
        const settled = from.filter((row) => row.settled);
        for (const outcome of ['succeeded', 'failed', 'indeterminate']) {
          const runs = settled.filter((row) => row.outcome === outcome).length;
          expect(read?.outcomes[outcome] ?? 0).toBe(runs);
        }
        expect(read?.unsettled).toEqual(from.filter((row) => !row.settled).map(({ runId }) => runId));
      }),
    );
  });

  it('names no values where there are many, and is then asked run by run', () => {
    const from = Array.from({ length: 40 }, (_, at) => rowOf(runIdAt(100 - at), { label: `label ${at}` }));
    const { digest, digestSum } = opened(from);
    const read = readDigest(digest, digestSum);
    expect(read?.label).toBeNull();
    expect(read !== null && sieveOf({ ...NO_FILTER, label: 'nosuch' }).admits(read)).toBe(true);
    expect(read !== null && sieveOf({ ...NO_FILTER, status: 'nosuch' }).admits(read)).toBe(false);
  });

  it('case 56: is nothing once a bit of it has changed', () => {
    const { digest, digestSum, facts, factsSum } = opened([rowOf(runIdAt(1))]);
    expect(readDigest(digest.replace('"runs":1', '"runs":2'), digestSum)).toBeNull();
    expect(readFacts(digest, facts.replace('completed', 'complfted'), factsSum)).toBeNull();
    // Facts of another block.
    const other = opened([rowOf(runIdAt(2))]);
    expect(readFacts(digest, other.facts, other.factsSum)).toBeNull();
  });
});
