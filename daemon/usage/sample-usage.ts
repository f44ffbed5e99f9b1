import type { Engine } from '../../shared/engine.ts';
import { sleep } from '../../shared/time/sleep.ts';
import type { Indexing } from '../index/indexing.ts';
import type { Journal } from '../journal.ts';
import type { Roster } from '../roster.ts';
import { type RunToSample, UsageKeeper } from './usage-keeper.ts';

/** Whether sampling has been switched on again. */
const OFF_LOOK_MS = 15_000;

/** Samples what running runs use, as often as is configured, until the signal is aborted. */
export async function sampleUsage(
  engine: Engine,
  roster: Roster,
  index: Indexing,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const keeper = new UsageKeeper();
  while (!signal.aborted) {
    const { usageIntervalMs } = engine.config;
    if (usageIntervalMs > 0) await sampleOnce(keeper, roster, index, journal, signal);
    await sleep(usageIntervalMs || OFF_LOOK_MS, signal);
  }
}

/** A meter that cannot be read costs its sample and nothing else. */
async function sampleOnce(
  keeper: UsageKeeper,
  roster: Roster,
  index: Indexing,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  try {
    index.putUsage(await keeper.sample(runsToSample(roster), signal));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    journal({ event: 'fault', run_id: null, message: `usage: ${message}` });
  }
}

function runsToSample(roster: Roster): RunToSample[] {
  return [...roster.open()].flatMap(([runId, { pid, groupId }]) =>
    pid === null || groupId === null ? [] : [{ runId, pid, pgid: groupId }],
  );
}
