import { statSync } from 'node:fs';
import type { Engine } from '../engine.ts';
import type { JsonObject } from '../json/value.ts';
import { toJson } from '../json/value.ts';
import { processClaimOf } from '../liveness/claim.ts';
import type { Liveness } from '../liveness/finding.ts';
import { mutateRecord } from '../record/mutate.ts';
import { runDirOf } from '../store/home.ts';
import { probedOf, sameIdentity } from './admit.ts';
import { hasEnd } from './end.ts';

/**
 * Outside the initial namespace a record without `origin` cannot be judged. Whoever confirms a live run's
 * identity there writes down where it lives, so that its death can be judged from the same place later
 * (design 5.3). A refusal is left to the next observation.
 */
export async function stampOrigin(
  engine: Engine,
  runId: string,
  record: JsonObject,
  liveness: Liveness,
  lockWaitMs: number,
): Promise<void> {
  const { initialNamespace, procIsOurs, origin } = engine.processes.standpoint();
  if (liveness.finding !== 'identity_confirmed' || initialNamespace || !procIsOurs || record.has('origin'))
    return;
  // A stranger inside may have the number and the start time of a run outside.
  if (!isMarked(engine, runId, record)) return;
  const { hostId, bootId, pidNamespace } = origin;
  const stamp = toJson({ host_id: hostId, boot_id: bootId, pid_namespace: pidNamespace });
  const options = { waitMs: lockWaitMs, signal: engine.signal, now: engine.now };
  await mutateRecord(runDirOf(engine.home, runId), runId, options, (current) => {
    const same =
      sameIdentity(probedOf(current), probedOf(record)) && !current.has('origin') && !hasEnd(current);
    return same ? { verdict: null, set: new Map([['origin', stamp]]) } : { verdict: null };
  });
}

function isMarked(engine: Engine, runId: string, record: JsonObject): boolean {
  const { pid } = processClaimOf(record);
  const owner = statSync(runDirOf(engine.home, runId), { throwIfNoEntry: false });
  if (pid === null || owner === undefined) return false;
  const { marked } = engine.processes.scanForMark(runId, pid, owner.uid);
  return marked.some((process) => process.role === 'holder');
}
