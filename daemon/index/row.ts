import { rowOf, valuesOf } from '../../shared/contract/row.ts';
import type { Engine } from '../../shared/engine.ts';
import type { IndexRow } from '../../shared/index/schema.ts';
import { factsOf } from '../../shared/run/list-facts.ts';
import type { RunStatus } from '../../shared/run/status.ts';

/** A run's row as it is listed, with the columns that filters go by. */
export function indexRowOf(
  engine: Engine,
  status: RunStatus,
  signature: string | null,
  settled: boolean,
): IndexRow {
  const row = rowOf(engine, status);
  const { runId, read } = status;
  return {
    ...factsOf(status, row),
    ...{ runId, signature, settled, recordState: read.state, row: valuesOf(row) },
  };
}
