/** ADR-0107 D2: the only three conclusions. `process_gone` alone may end a run. */
export type LivenessConclusion = 'alive' | 'process_gone' | 'unknown';

/** What one observation established. The last five are stricter than the Python engine's (design 5). */
export type Finding =
  | 'no_record'
  | 'unusable_pid'
  | 'pid_absent'
  | 'disappeared_during_probe'
  | 'pid_recycled'
  | 'identity_confirmed'
  | 'identity_not_recorded'
  | 'identity_unusable'
  | 'identity_unreadable'
  | 'mark_contradicts'
  | 'in_other_namespace'
  | 'other_host'
  | 'unjudgeable'
  | 'candidate_unreadable';

/** The findings that positively establish that the run's process is gone. */
export type ConclusiveFinding = 'pid_absent' | 'disappeared_during_probe' | 'pid_recycled';

export interface Liveness {
  readonly finding: Finding;
  readonly conclusion: LivenessConclusion;
  readonly alive: boolean;
  /** The public word for the finding (design 5). */
  readonly pidIdentity: string | null;
}

type Row = Omit<Liveness, 'finding'>;

const gone = (pidIdentity: string | null): Row => ({ conclusion: 'process_gone', alive: false, pidIdentity });
const alive = (pidIdentity: string): Row => ({ conclusion: 'alive', alive: true, pidIdentity });
const unknown = (isAlive: boolean, pidIdentity: string | null): Row => ({
  conclusion: 'unknown',
  alive: isAlive,
  pidIdentity,
});

const ROWS: Readonly<Record<Finding, Row>> = {
  no_record: unknown(false, null),
  unusable_pid: unknown(false, 'unusable_pid'),
  pid_absent: gone(null),
  disappeared_during_probe: gone('gone'),
  pid_recycled: gone('recycled'),
  identity_confirmed: alive('confirmed'),
  identity_not_recorded: alive('not_recorded'),
  identity_unusable: alive('unusable'),
  identity_unreadable: unknown(true, 'unreadable'),
  mark_contradicts: unknown(true, 'mark_contradicts'),
  in_other_namespace: unknown(true, 'in_other_namespace'),
  other_host: unknown(false, 'other_host'),
  unjudgeable: unknown(false, 'unjudgeable'),
  candidate_unreadable: unknown(false, 'unreadable'),
};

export function livenessOf(finding: Finding): Liveness {
  return { finding, ...ROWS[finding] };
}

export function isConclusive(finding: string): finding is ConclusiveFinding {
  return finding in ROWS && ROWS[finding as Finding].conclusion === 'process_gone';
}
