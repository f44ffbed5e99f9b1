/** What signalling needs to know of process groups; loaded only where a signal may be sent. */

/** A live member of a process group, as far as it can be read. */
export interface GroupMember {
  readonly pid: number;
  /** Epoch seconds; null where it cannot be read. */
  readonly createTime: number | null;
  /** The run whose mark it carries, null for none. */
  readonly mark: { readonly runId: string | null } | 'unreadable';
}

/** A hold on one process: what is signalled through it can be no other that took over the number. */
export interface Pin {
  /** `gone`: it has ended. `denied`: it may not be signalled by us. */
  signal(number: number): 'sent' | 'gone' | 'denied';
  /** All of the group it belongs to. */
  signalGroup(groupId: number, number: number): 'sent' | 'gone' | 'denied';
  /** True only where the system says so: the number may be another group's by now. */
  groupIsGone(): boolean;
  close(): void;
}

export interface ProcessGroups {
  /** The process group of a process; null where it is not there or will not be told. */
  groupOf(pid: number): number | null;
  /** Live members of a group; zombies are none. */
  membersOf(groupId: number): readonly GroupMember[];
  /** Null where the process is not there, or cannot be held. */
  pin(pid: number): Pin | null;
}
