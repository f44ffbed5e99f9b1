import type { Engine } from '../shared/engine.ts';
import { errnoOf } from '../shared/errno.ts';
import { prune } from '../shared/run/prune/prune.ts';
import type { Journal } from './journal.ts';
import type { Chore } from './maintenance.ts';
import { listNewestFirst } from './sweep.ts';

/**
 * Removes the ended runs that `retention` of liond.yaml covers, as `lion job prune` does without `--force`, a run
 * at a time, the loop turning in between. With no rule nothing is even looked at.
 * @returns how many runs, and what they took, in bytes.
 */
export async function retain(
  engine: Engine,
  signal: AbortSignal,
): Promise<{ readonly removed: number; readonly bytes: number }> {
  const { retention } = engine.config;
  if (Object.values(retention).every((rule) => rule === null)) return { removed: 0, bytes: 0 };
  const names = await namesOf(engine, signal);
  const rule = { ...retention, outcomes: null, force: false };
  // A run whose lock is held is there tomorrow.
  const { removed } = await prune(engine, names, { rule, dryRun: false, lockWaitMs: 0, signal });
  return { removed: removed.length, bytes: removed.reduce((sum, run) => sum + run.bytes, 0) };
}

async function namesOf(engine: Engine, signal: AbortSignal): Promise<string[]> {
  try {
    return await listNewestFirst(engine.home, signal);
  } catch (error) {
    // The sweeps say what is amiss with the root.
    if (errnoOf(error) === null) throw error;
    return [];
  }
}

const HOUR_MS = 3_600_000;
/** Less than a day, so that it does not move by an hour each day. */
const DAILY_MS = 23.5 * HOUR_MS;

/**
 * Once a day. It is asked each hour, since a machine that is off at the one hour of a day would never come to it.
 * @param steadyMs steady milliseconds.
 */
export function retentionChore(
  engine: Engine,
  journal: Journal,
  steadyMs: () => number = () => performance.now(),
): Chore {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    name: 'retention',
    at: '41 * * * *',
    everyMs: HOUR_MS,
    async run(signal) {
      if (steadyMs() - lastMs < DAILY_MS) return;
      lastMs = steadyMs();
      const { removed, bytes } = await retain(engine, signal);
      if (removed > 0) journal({ event: 'pruned', runs: removed, bytes });
    },
  };
}
