import type { Engine } from '../engine.ts';
import { type BlockRun, EVERY_RUN, type Sieve } from '../index/block.ts';
import type { IndexReader } from '../index/read-index.ts';
import { compareBytes, listRunNames } from '../store/names.ts';

/**
 * The names of the store, newest first, below this one (null: all), with what the index has of them.
 * @param sieve as `IndexReader.runsBelow` has it; holds nothing back where the names have to be listed.
 * @throws {IndexFault} when the index is found to be of no use: nothing that came before it counts.
 */
export function* listEntries(
  engine: Engine,
  reader: IndexReader | null,
  belowRunId: string | null,
  sieve: Sieve,
): Generator<BlockRun> {
  if (reader?.hasAllNames) {
    yield* reader.runsBelow(belowRunId, sieve);
    return;
  }
  const runs = reader?.runsBelow(belowRunId, EVERY_RUN);
  let run = nextOf(runs);
  for (const runId of listRunNames(engine.home.jobsDir)) {
    if (belowRunId !== null && compareBytes(runId, belowRunId) >= 0) continue;
    // Those of the index that are gone.
    while (run !== null && compareBytes(run.runId, runId) > 0) run = nextOf(runs);
    yield { runId, settled: run?.runId === runId ? run.settled : null };
  }
}

function nextOf(runs: Generator<BlockRun> | undefined): BlockRun | null {
  return runs?.next().value ?? null;
}
