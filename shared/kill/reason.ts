/** Why a kill did, or did not, signal (design 9). Codes are the contract, the words are for people. */
export type KillReason =
  | 'no_such_job'
  | 'job_record_unreadable'
  | 'job_record_wrong_shape'
  | 'job_record_names_another_run'
  | 'no_pid_on_record'
  | 'signalled'
  | 'kill_not_recorded'
  | 'process_gone'
  | 'permission_denied'
  | 'no_recorded_process_identity'
  | 'recorded_identity_unusable'
  | 'pid_recycled'
  | 'leader_identity_unreadable'
  | 'leader_identity_changed'
  | 'leader_group_mismatch'
  | 'leader_group_unreadable'
  | 'group_gone'
  | 'group_belongs_to_another_run'
  | 'group_markers_conflict'
  | 'group_predates_run'
  | 'group_scan_incomplete'
  | 'group_ownership_unproven';

const WORDS: Readonly<Record<KillReason, string>> = {
  no_such_job: 'there is no such run',
  job_record_unreadable: 'its record cannot be read',
  job_record_wrong_shape: 'its record is JSON and not an object',
  job_record_names_another_run: 'its record names another run, or none',
  no_pid_on_record: 'its record has no pid that can be asked about',
  signalled: 'signalled',
  kill_not_recorded: 'the signal was sent, and the record could not be written',
  process_gone: 'it had ended before the signal reached it',
  permission_denied: 'the system does not let this user signal it',
  no_recorded_process_identity: 'its record has neither a start time nor a group to know its processes by',
  recorded_identity_unusable: 'the recorded start time or group cannot be used',
  pid_recycled: 'the recorded pid is another process now',
  leader_identity_unreadable: 'the start time of the process cannot be read',
  leader_identity_changed: 'the process changed between two looks',
  leader_group_mismatch: 'the process is not in the recorded group',
  leader_group_unreadable: 'the group of the process cannot be read',
  group_gone: 'nothing of it is left',
  group_belongs_to_another_run: "the recorded group is another run's now",
  group_markers_conflict: 'processes of two runs are in the recorded group',
  group_predates_run: 'a process in the recorded group is older than the run',
  group_scan_incomplete: 'not every process in the recorded group could be looked at',
  group_ownership_unproven: "nothing proves that the recorded group is this run's",
};

export function reasonInWords(code: KillReason): string | null {
  return code === 'signalled' ? null : WORDS[code];
}
