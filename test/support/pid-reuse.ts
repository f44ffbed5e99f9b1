/** What `pid-reuse-drill.ts` is told, and what it tells. */

/** Windows of `killRun` in which something else can take over a number. */
export type Window =
  | 'within the first look'
  | 'before the pin'
  | 'between the pin and the second look'
  | 'within the second look'
  | 'between the second look and the signal'
  | 'after the signal';

/**
 * Whose number is taken: that of the leader; that of a leader which had just started, where the record says at
 * which tick; that of a leader long gone, when the last of its group ends; that of a marked process which left the
 * group and is to be ended by force.
 */
export type Whose = 'leader' | 'young leader' | 'group' | 'escapee';

export interface Tally {
  rounds: number;
  /** Rounds in which the number could not be given to another. */
  missed: number;
  /** How often each reason code was answered. */
  answers: Record<string, number>;
  /** How each stranger ended that did. */
  signalledStrangers: string[];
  /** How often the answer had a stranger among the run's remaining processes. */
  listedStrangers: number;
  /** Records that a kill changed which signalled nothing. */
  changedRecords: number;
}
