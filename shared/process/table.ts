/** What the operating system can be asked about processes; Linux and macOS answer behind the same words. */

/** Which machine, boot and pid namespace a process belongs to. Written as `origin` at spawn (design 3). */
export interface Origin {
  /** Derived from the machine id, never the machine id itself; null where there is none. */
  readonly hostId: string | null;
  readonly bootId: string | null;
  /** Inode of the namespace; null where the system has none. */
  readonly pidNamespace: number | null;
}

export interface Standpoint {
  readonly origin: Origin;
  /** Pids we see are the machine's own: the initial namespace, or a system without namespaces. */
  readonly initialNamespace: boolean;
  /** `/proc` shows our own namespace: without that nothing may be judged or stamped. */
  readonly procIsOurs: boolean;
}

export type Sighting =
  /** Signal 0 answers ESRCH, nothing less. */
  | { readonly kind: 'absent' }
  /** There at first and gone on the second look, or a zombie with no live task. */
  | { readonly kind: 'vanished' }
  /** There, and who it is cannot be read. */
  | { readonly kind: 'unreadable' }
  | {
      readonly kind: 'live';
      /** Epoch seconds as the Python writers compute it. */
      readonly createTime: number;
      /** Ticks since boot, which no clock step moves; null where the system does not tell. */
      readonly startTicks: number | null;
    };

export interface MarkedProcess {
  readonly pid: number;
  /** `holder`: a process whose thread group id is the recorded pid. `nested`: its pid in its own, inner namespace is. */
  readonly role: 'holder' | 'nested' | 'other';
}

export interface MarkScan {
  /** Live processes that carry `LIONAGI_MCP_JOB_RUN_ID=<run id>`. */
  readonly marked: readonly MarkedProcess[];
  /** A holder or nested process of the owner's whose environment cannot be read: it may be the run. */
  readonly unreadableCandidate: boolean;
}

export interface ProcessTable {
  standpoint(): Standpoint;
  sight(pid: number): Sighting;
  /**
   * A word for the process that has this number now, from one cheap look: the same word later is the same process,
   * alive. Null where none is plainly alive.
   */
  tokenOf(pid: number): string | null;
  /** Of a child of ours just started, also when it has ended by now: its entry is there until it is collected. */
  birthOf(pid: number): { readonly createTime: number | null; readonly startTicks: number | null };
  scanForMark(runId: string, pid: number, ownerUid: number): MarkScan;
}

export const MARK_VARIABLE = 'LIONAGI_MCP_JOB_RUN_ID';
