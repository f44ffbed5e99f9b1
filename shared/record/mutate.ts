import { errnoOf } from '../errno.ts';
import { markTouched } from '../index/touched.ts';
import { parseObjectText } from '../json/parse.ts';
import { pyEqual } from '../json/python.ts';
import { spliceMembers } from '../json/splice.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { type LockWait, withRunLock } from '../lock/run-lock.ts';
import { isOver } from '../run/end.ts';
import { stateDirBeside } from '../store/home.ts';
import { type PublishEffects, publishRecord } from './publish.ts';
import { type RecordRead, readRecord } from './read.ts';

/** What a decision wants done with the record it was shown; no changes means nothing is written. */
export interface Decision<V> {
  readonly verdict: V;
  readonly set?: ReadonlyMap<string, Json>;
}

export type RefusalCode = 'lock_unavailable' | 'publish_failed';

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
}

export type Mutation<V> =
  | { readonly kind: 'done'; readonly verdict: V; readonly record: JsonObject; readonly changed: boolean }
  | { readonly kind: 'no_record'; readonly state: Exclude<RecordRead['state'], 'ok'> }
  /** The record names another run, or none: it is not this run's to write (ADR-0107 D1.1). */
  | { readonly kind: 'foreign'; readonly record: JsonObject }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface MutateOptions extends LockWait {
  readonly effects?: PublishEffects;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Nothing is settled before 15 min; the rest is room for a clock that was set. */
const YOUNG_MS = 60_000;

/**
 * Read-modify-write of one record under its lock (ADR-0107 D5): reread, let `decide` look, publish only what
 * differs. `decide` is pure; the record it gets is the one that will be replaced.
 */
export async function mutateRecord<V>(
  runDir: string,
  runId: string,
  options: MutateOptions,
  decide: (record: JsonObject) => Decision<V>,
): Promise<Mutation<V>> {
  const locked = await withRunLock(runDir, options, () => apply(runDir, runId, decide, options));
  switch (locked.kind) {
    case 'held':
      return locked.value;
    case 'absent':
      return { kind: 'no_record', state: 'absent' };
    case 'refused':
      return { kind: 'refused', refusal: { code: 'lock_unavailable', message: locked.message } };
  }
}

function apply<V>(
  runDir: string,
  runId: string,
  decide: (record: JsonObject) => Decision<V>,
  { effects, now = Date.now }: MutateOptions,
): Mutation<V> {
  const read = readRecord(runDir);
  if (read.state !== 'ok') return { kind: 'no_record', state: read.state };
  const before = read.object.value;
  if (before.get('run_id') !== runId) return { kind: 'foreign', record: before };
  const { verdict, set } = decide(before);
  const changes = new Map(
    [...(set ?? [])].filter(([key, value]) => !before.has(key) || !pyEqual(before.get(key), value)),
  );
  if (changes.size === 0) return { kind: 'done', verdict, record: before, changed: false };
  const text = spliceMembers(read.object, changes);
  // The index may have it as settled: the rules are in index/read-index.ts.
  const isYoung = Math.abs(now() - read.stat.ctimeMs) < YOUNG_MS;
  if (isOver(before) && !isYoung) markTouched(stateDirBeside(runDir), runId, read.stat);
  try {
    publishRecord(runDir, text, read.stat, effects);
  } catch (error) {
    const message = `job.json could not be replaced: ${errnoOf(error) ?? String(error)}`;
    return { kind: 'refused', refusal: { code: 'publish_failed', message } };
  }
  return { kind: 'done', verdict, record: parseObjectText(text)?.value ?? before, changed: true };
}
