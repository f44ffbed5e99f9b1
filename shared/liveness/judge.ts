/**
 * Is a run's process gone? Three looks in order, each of which can only take certainty away: whose is the
 * pid, may we judge it from here, does a mark contradict. Pure: facts in, a finding out (ADR-0107 D2, design 5).
 */
import type { MarkScan, Origin, Sighting, Standpoint } from '../process/table.ts';
import type { ProcessClaim } from './claim.ts';
import { type Finding, isConclusive } from './finding.ts';

/** Recorded against live start time. A clock step moves the live one; the mark then speaks. */
export const CREATE_TIME_TOLERANCE_S = 0.1;

export interface Ground {
  readonly standpoint: Standpoint;
  /** The run's directory is on a filesystem of this machine. */
  readonly localFilesystem: boolean;
  /** `judge_unowned_records` of liond.yaml: this store is used from one namespace. */
  readonly judgeUnowned: boolean;
}

/** What the pid alone tells. */
export function judgeSighting(claim: ProcessClaim, sighting: Sighting | null, ground: Ground): Finding {
  if (claim.pid === null || sighting === null) return 'unusable_pid';
  if (sighting.kind === 'absent') return 'pid_absent';
  if (sighting.kind === 'vanished') return 'disappeared_during_probe';
  if (isOfEarlierBoot(claim.origin, ground)) return 'pid_recycled';
  const byTicks = compareTicks(claim, sighting, ground.standpoint.origin);
  if (byTicks !== null) return byTicks;
  if (claim.createTime === 'not_recorded') return 'identity_not_recorded';
  if (claim.createTime === 'unusable') return 'identity_unusable';
  if (sighting.kind === 'unreadable') return 'identity_unreadable';
  const apart = Math.abs(sighting.createTime - claim.createTime);
  return apart <= CREATE_TIME_TOLERANCE_S ? 'identity_confirmed' : 'pid_recycled';
}

/** Ticks recorded in this boot decide first: no clock step moves them. */
function compareTicks(claim: ProcessClaim, sighting: Sighting, here: Origin): Finding | null {
  if (!ticksCount(claim, here) || sighting.kind !== 'live' || sighting.startTicks === null) return null;
  return sighting.startTicks === claim.startTicks ? 'identity_confirmed' : 'pid_recycled';
}

/** Ticks say something only in the boot and the pid namespace they were read in. */
function ticksCount(claim: ProcessClaim, here: Origin): boolean {
  if (claim.startTicks === null || claim.origin === null || here.bootId === null) return false;
  return claim.origin.bootId === here.bootId && claim.origin.pidNamespace === here.pidNamespace;
}

/** The host boundary withholds `process_gone` and nothing else. */
export function withinBoundary(finding: Finding, claim: ProcessClaim, ground: Ground): Finding {
  if (!isConclusive(finding)) return finding;
  if (!ground.standpoint.procIsOurs) return 'unjudgeable';
  if (claim.origin === null) {
    const mayJudge = ground.standpoint.initialNamespace && ground.localFilesystem;
    return mayJudge || ground.judgeUnowned ? finding : 'unjudgeable';
  }
  return ownedHere(claim.origin, ground) ? finding : 'other_host';
}

function ownedHere(recorded: Origin, ground: Ground): boolean {
  const here = ground.standpoint.origin;
  if (recorded.bootId === null || recorded.bootId !== here.bootId) return isOfEarlierBoot(recorded, ground);
  return recorded.pidNamespace === here.pidNamespace || ground.judgeUnowned;
}

/**
 * Nothing of another boot of this host runs any more. A store shared over a network may hold records of a
 * machine that was cloned with its id, so that holds on a local filesystem only.
 */
function isOfEarlierBoot(recorded: Origin | null, ground: Ground): boolean {
  const here = ground.standpoint.origin;
  if (recorded === null || recorded.hostId === null || recorded.hostId !== here.hostId) return false;
  if (recorded.bootId === null || here.bootId === null || recorded.bootId === here.bootId) return false;
  return ground.localFilesystem;
}

/**
 * The contradiction guard: a mark found refutes death, a mark missing proves nothing. Start ticks are guarded as
 * well: a time namespace shifts them.
 */
export function withMarks(finding: Finding, scan: MarkScan): Finding {
  if (!isConclusive(finding)) return finding;
  if (scan.marked.some((process) => process.role === 'nested')) return 'in_other_namespace';
  if (scan.marked.some((process) => process.role === 'holder')) return 'mark_contradicts';
  return scan.unreadableCandidate ? 'candidate_unreadable' : finding;
}
