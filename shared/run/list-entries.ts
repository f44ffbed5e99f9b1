import type { Engine } from '../engine.ts';
import type { IndexReader } from '../index/read-index.ts';
import type { IndexRow } from '../index/schema.ts';
import { compareBytes, listRunNames } from '../store/names.ts';

export interface ListEntry {
  readonly runId: string;
  /** Of the index, where it may stand for the record. */
  readonly settled: IndexRow | null;
}

/**
 * The names of the store, newest first, below this one (null: all), with what the index has of them.
 * @throws {IndexFault} when the index is found to be of no use: nothing that came before it counts.
 */
export function* listEntries(
  engine: Engine,
  reader: IndexReader | null,
  belowRunId: string | null,
): Generator<ListEntry> {
  if (reader?.hasAllNames) {
    for (const row of reader.rowsBelow(belowRunId)) yield { runId: row.runId, settled: settledOrNull(row) };
    return;
  }
  const rows = reader?.rowsBelow(belowRunId);
  let row = nextOf(rows);
  for (const runId of listRunNames(engine.home.jobsDir)) {
    if (belowRunId !== null && compareBytes(runId, belowRunId) >= 0) continue;
    // Rows of runs that are gone.
    while (row !== null && compareBytes(row.runId, runId) > 0) row = nextOf(rows);
    yield { runId, settled: row?.runId === runId ? settledOrNull(row) : null };
  }
}

function nextOf(rows: Generator<IndexRow> | undefined): IndexRow | null {
  return rows?.next().value ?? null;
}

function settledOrNull(row: IndexRow): IndexRow | null {
  return row.settled ? row : null;
}
