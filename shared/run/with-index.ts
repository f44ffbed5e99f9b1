import type { Engine } from '../engine.ts';
import { IndexFault } from '../index/fault.ts';
import { type IndexReader, openIndexReader, type WhyUnused } from '../index/read-index.ts';

export interface IndexUse {
  readonly used: boolean;
  /** Null exactly where it was used. */
  readonly why: WhyUnused | null;
}

/** Does the work with the index, or, where that cannot be used to the end, all of it anew without. */
export async function withIndex<T>(
  engine: Engine,
  isWanted: boolean,
  work: (reader: IndexReader | null) => Promise<T>,
): Promise<{ readonly value: T; readonly index: IndexUse }> {
  const reader = isWanted ? await openIndexReader(engine) : 'not_asked';
  if (typeof reader === 'string') return { value: await work(null), index: { used: false, why: reader } };
  try {
    return { value: await work(reader), index: { used: true, why: null } };
  } catch (error) {
    if (!(error instanceof IndexFault)) throw error;
    return { value: await work(null), index: { used: false, why: error.code } };
  } finally {
    reader.close();
  }
}
