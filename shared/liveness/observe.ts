import { statSync } from 'node:fs';
import type { ProcessTable } from '../process/table.ts';
import { isLocalFilesystem } from '../store/filesystem.ts';
import type { ProcessClaim } from './claim.ts';
import { type Finding, isConclusive, type Liveness, livenessOf } from './finding.ts';
import { type Ground, judgeSighting, withinBoundary, withMarks } from './judge.ts';

export interface Observation {
  readonly liveness: Liveness;
  /** Pids of live processes that carry the run's mark, where a scan was made. */
  readonly survivors: readonly number[];
}

export interface LivenessPolicy {
  readonly judgeUnowned: boolean;
  /** Scan for the run's mark before calling its process gone; an ended run needs no such proof. */
  readonly guard: boolean;
}

/** One look at a run's process; the mark scan is made only where the rest says it is gone. */
export function observeLiveness(
  processes: ProcessTable,
  runId: string,
  runDir: string,
  claim: ProcessClaim,
  policy: LivenessPolicy,
): Observation {
  const sighted = sightClaim(processes, runDir, claim, policy.judgeUnowned);
  const finding = withinBoundary(sighted.finding, claim, sighted.ground);
  if (!isConclusive(finding) || !policy.guard || claim.pid === null) {
    return { liveness: livenessOf(finding), survivors: [] };
  }
  const owner = statSync(runDir, { throwIfNoEntry: false });
  if (owner === undefined) return { liveness: livenessOf('unjudgeable'), survivors: [] };
  const scan = processes.scanForMark(runId, claim.pid, owner.uid);
  const guarded = withMarks(finding, scan);
  return { liveness: livenessOf(guarded), survivors: scan.marked.map((process) => process.pid) };
}

/** What the pid alone tells, and from what ground: neither boundary nor mark has been asked yet. */
export function sightClaim(
  processes: ProcessTable,
  runDir: string,
  claim: ProcessClaim,
  judgeUnowned: boolean,
): { readonly finding: Finding; readonly ground: Ground } {
  const ground = {
    standpoint: processes.standpoint(),
    localFilesystem: isLocalFilesystem(runDir),
    judgeUnowned,
  };
  const sighting = claim.pid === null ? null : processes.sight(claim.pid);
  return { finding: judgeSighting(claim, sighting, ground), ground };
}
