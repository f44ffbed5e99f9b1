import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FilterOptions, filterOf } from '../../../cli/job/list-filter.ts';
import type { Engine } from '../../../shared/engine.ts';
import { openEngine } from '../../../shared/engine.ts';
import { toJson } from '../../../shared/json/value.ts';
import { LINE_STYLE, writeJson } from '../../../shared/json/write.ts';
import { countRuns, listRuns } from '../../../shared/run/list.ts';
import { inWorld } from '../../support/in-world.ts';
import { historyOf, type Step, StoreHistory } from './store-history.ts';

/** Of the store; a drill asks for more. */
const STATES = Number(process.env.LION_DRILL_STATES ?? 2_000);
const STATES_OF_ONE_STORE = 50;
/** Compared in each state, one after the other in turn. */
const FILTERS_A_STATE = 3;

const FILTERS: readonly FilterOptions[] = [
  {},
  { status: 'completed' },
  { status: 'exited' },
  { outcome: 'failed' },
  { outcome: 'indeterminate' },
  { open: true },
  { terminal: true },
  { kind: 'flow' },
  { label: 'nightly*' },
  { label: '*?*' },
  { tag: 'b' },
  { notifyState: 'delivered' },
  { notifyState: 'failed' },
  { notifyState: 'skipped' },
  { since: '2026-05-01' },
  { until: '2026-05-01' },
  { reason: 'timeout' },
  { degraded: true },
  { status: 'degraded', degraded: true },
  { terminal: true, tag: 'a', label: 'caf*', since: '2026-02-01' },
];

async function answer(engine: Engine, options: FilterOptions, useIndex: boolean) {
  const filter = filterOf(options, engine.now());
  const page = await listRuns(engine, { limit: 3, afterRunId: null, filter, useIndex });
  const last = page.rows.at(-1)?.run_id;
  const afterRunId = typeof last === 'string' ? last : null;
  const next = await listRuns(engine, { limit: 1000, afterRunId, filter, useIndex });
  const { counts, index } = await countRuns(engine, { filter, useIndex });
  const told = { first: page.rows, truncated: page.truncated, rest: next.rows, more: next.truncated };
  const text = writeJson(toJson({ ...told, counts: { ...counts } }), LINE_STYLE);
  return { text, used: [page.index, next.index, index].filter(({ used }) => used).length };
}

function filtersOf(state: number): FilterOptions[] {
  return Array.from(
    { length: FILTERS_A_STATE },
    (_, at) => FILTERS[(state * FILTERS_A_STATE + at) % FILTERS.length] ?? {},
  );
}

async function isSameThroughout(steps: readonly Step[]): Promise<number> {
  return inWorld(async (world) => {
    const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
    const history = new StoreHistory(world, engine);
    world.onDispose(() => history.close());
    let used = 0;
    for (const [at, step] of steps.entries()) {
      await history.apply(step);
      for (const options of filtersOf(at)) {
        const by = await answer(history.engine, options, true);
        used += by.used;
        const scanned = await answer(history.engine, options, false);
        expect(by.text, `${JSON.stringify(options)} after step ${at}, ${step.do}`).toBe(scanned.text);
      }
    }
    return used;
  });
}

describe('a list by the index is, byte for byte, the list by scan', () => {
  it('under every filter, whatever happened to store and index in between', async () => {
    let used = 0;
    await fc.assert(
      fc.asyncProperty(historyOf(STATES_OF_ONE_STORE), async (steps) => {
        used += await isSameThroughout(steps);
      }),
      { numRuns: Math.ceil(STATES / STATES_OF_ONE_STORE), endOnFailure: true },
    );
    // Three answers a filter: where the index were never used, nothing would have been compared.
    expect(used / (STATES * FILTERS_A_STATE * 3)).toBeGreaterThan(0.1);
  }, 3_600_000);
});
