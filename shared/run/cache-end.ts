import type { Engine } from '../engine.ts';
import type { Json } from '../json/value.ts';
import type { LifecycleEnd } from '../lifecycle/end.ts';
import { type OwedNotice, withOwed } from '../notify/owed.ts';
import { type Mutation, mutateRecord } from '../record/mutate.ts';
import { runDirOf } from '../store/home.ts';
import { hasEnd } from './end.ts';

/**
 * Writes the end the lifecycle store reported, unless the record has one (ADR-0107 D5: first writer wins).
 * A recorded outcome stays; without a usable time the end is an upper bound.
 */
export async function cacheLifecycleEnd(
  engine: Engine,
  runId: string,
  end: LifecycleEnd,
  observed: { readonly at: string; readonly owed: OwedNotice; readonly lockWaitMs: number },
): Promise<Mutation<'cached' | 'already_ended'>> {
  const options = { waitMs: observed.lockWaitMs, signal: engine.signal, now: engine.now };
  return mutateRecord(runDirOf(engine.home, runId), runId, options, (record) => {
    if (hasEnd(record)) return { verdict: 'already_ended' };
    const set = new Map<string, Json>([
      ['finished_at', end.endedAt ?? observed.at],
      ['finished_at_precision', end.endedAt === null ? 'upper_bound' : 'observed'],
      ['reason_code', end.reasonCode],
      ['terminal_source', 'lifecycle_cache'],
      ['notify_delivery', withOwed(record.get('notify_delivery'), observed.owed)],
    ]);
    if (end.status !== null) set.set('status', end.status);
    return { verdict: 'cached', set };
  });
}
