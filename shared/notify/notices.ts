import type { Engine } from '../engine.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { readRecord } from '../record/read.ts';
import { hasEnd } from '../run/end.ts';
import { runDirOf } from '../store/home.ts';
import { listRunNames } from '../store/names.ts';

export interface EndedRun {
  readonly runId: string;
  readonly record: JsonObject;
}

export interface FoundNotices {
  readonly runs: readonly EndedRun[];
  /** There is at least one more match. */
  readonly truncated: boolean;
}

/**
 * The ended runs whose `notify_delivery` is `wanted`, newest first, at most `limit`. From the records alone:
 * no run's process is looked at and nothing is written; a record that cannot be read is passed over.
 */
export function findNotices(
  engine: Engine,
  wanted: (delivery: Json | undefined) => boolean,
  limit: number,
): FoundNotices {
  const runs: EndedRun[] = [];
  for (const runId of listRunNames(engine.home.jobsDir)) {
    const read = readRecord(runDirOf(engine.home, runId));
    if (read.state !== 'ok') continue;
    const record = read.object.value;
    if (!hasEnd(record) || !wanted(record.get('notify_delivery'))) continue;
    if (runs.length === limit) return { runs, truncated: true };
    runs.push({ runId, record });
  }
  return { runs, truncated: false };
}
