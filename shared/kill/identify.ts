/**
 * May this be signalled, and what proves that it is the run? Pure. A signal always follows a positive
 * identification: the leader's start time matches and it is in the recorded group, or a live member of that
 * group carries this run's mark (design 9).
 */
import { type Json, JsonNumber, type JsonObject } from '../json/value.ts';
import type { Finding } from '../liveness/finding.ts';
import { CREATE_TIME_TOLERANCE_S } from '../liveness/judge.ts';
import type { GroupMember } from '../process/groups.ts';
import type { KillReason } from './reason.ts';

export interface KillClaim {
  readonly pid: number;
  readonly groupId: number;
  /** Epoch seconds. */
  readonly createTime: number;
}

export type Identified<T> =
  | { readonly kind: 'identified'; readonly value: T }
  | { readonly kind: 'refused'; readonly code: KillReason };

/** What the record gives to know its processes by; text is not taken for a number where a signal depends on it. */
export function killClaimOf(record: JsonObject, pid: number | null): Identified<KillClaim> {
  if (pid === null) return refused('no_pid_on_record');
  if (!record.has('pid_create_time') && !record.has('pgid')) return refused('no_recorded_process_identity');
  const createTime = record.get('pid_create_time');
  const groupId = recordedGroupOf(record);
  const usable = createTime instanceof JsonNumber && Number.isFinite(createTime.value);
  if (!usable || groupId === null) return refused('recorded_identity_unusable');
  return { kind: 'identified', value: { pid, groupId, createTime: createTime.value } };
}

/**
 * A group that can be signalled: not ours by 0, not everyone's by 1, not a boolean. Beside a start time that
 * can be none it is nobody's; a boolean is a number there, as Python has it.
 */
export function recordedGroupOf(record: JsonObject): number | null {
  const group: Json | undefined = record.get('pgid');
  const createTime = record.get('pid_create_time');
  if (!(createTime instanceof JsonNumber) && typeof createTime !== 'boolean') return null;
  if (!(group instanceof JsonNumber) || !group.isInteger) return null;
  return group.value > 1 && Number.isSafeInteger(group.value) ? group.value : null;
}

/** By the leader: null where it is gone, or is another's, and the group has to speak for itself. */
export function identifyLeader(
  finding: Finding,
  liveGroup: number | null,
  claim: KillClaim,
): Identified<number> | null {
  switch (finding) {
    case 'identity_confirmed':
      if (liveGroup === null) return refused('leader_group_unreadable');
      return liveGroup === claim.groupId
        ? { kind: 'identified', value: claim.pid }
        : refused('leader_group_mismatch');
    case 'pid_absent':
    case 'disappeared_during_probe':
    case 'pid_recycled':
      return null;
    default:
      return refused('leader_identity_unreadable');
  }
}

/** By a marked member. One doubt about any member outweighs it only where the marks themselves disagree. */
export function identifyGroup(
  members: readonly GroupMember[],
  runId: string,
  claim: KillClaim,
): Identified<number> {
  if (members.length === 0) return refused('group_gone');
  const marks = members.map((member) => (member.mark === 'unreadable' ? null : member.mark.runId));
  const own = members[marks.indexOf(runId)];
  const foreign = marks.some((mark) => mark !== null && mark !== runId);
  if (own !== undefined && foreign) return refused('group_markers_conflict');
  if (foreign) return refused('group_belongs_to_another_run');
  if (members.some((member) => member.createTime === null)) return refused('group_scan_incomplete');
  if (own !== undefined) return { kind: 'identified', value: own.pid };
  const oldest = Math.min(...members.map((member) => member.createTime ?? Number.NaN));
  if (oldest < claim.createTime - CREATE_TIME_TOLERANCE_S) return refused('group_predates_run');
  const unread = members.some((member) => member.mark === 'unreadable');
  return refused(unread ? 'group_scan_incomplete' : 'group_ownership_unproven');
}

function refused(code: KillReason): { readonly kind: 'refused'; readonly code: KillReason } {
  return { kind: 'refused', code };
}
