import { openEngine } from '../../shared/engine.ts';
import { claimAttempt } from '../../shared/notify/claim.ts';
import { readRecord } from '../../shared/record/read.ts';
import type { LaidRun } from './lay-run.ts';
import type { World } from './world.ts';

/** Claims a run's notice as a sender does that is under way: this very process, which lives. */
export async function claimNotice(world: World, run: LaidRun): Promise<void> {
  const { engine } = await openEngine(world.env, world.cwd, new AbortController().signal);
  const read = readRecord(run.dir);
  const seen = read.state === 'ok' ? read.object.value.get('notify_delivery') : undefined;
  const claimed = await claimAttempt(engine, run.runId, seen);
  if (claimed.kind !== 'claimed') throw new Error(`not claimed: ${claimed.kind}`);
}
