import { parseIso } from '../time/iso.ts';
import type { Degradation, Health } from './health.ts';
import type { InstanceNote } from './instance-lock.ts';

export interface ConditionFacts {
  readonly instance: { readonly running: false } | ({ readonly running: true } & InstanceNote);
  readonly health: Health | null | 'unreadable';
  /** What is wrong with liond.yaml now, or null. */
  readonly configFault: string | null;
  readonly ours: { readonly version: string; readonly indexVersion: number };
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Condition {
  /**
   * `stalled`: the lock is held and its holder has written no health for 45 s. `starting`: it has written none
   * yet.
   */
  readonly state: 'running' | 'stalled' | 'starting' | 'stopped';
  /** Of the supervisor that runs now; null where there is none or it cannot be read. */
  readonly health: Health | null;
  /** The supervisor is of another version, or keeps another index, than who asks. */
  readonly restartNeeded: boolean;
  /** What the supervisor says it does without, then what is seen from here. */
  readonly degraded: readonly Degradation[];
}

/** Three times the interval at which health is written. */
export const STALLED_AFTER_MS = 45_000;

/** How a supervisor is, from what its files say. */
export function conditionOf(facts: ConditionFacts): Condition {
  const health = healthOfNow(facts);
  const state = stateOf(facts, health);
  const differs = versionDiffers(facts, health);
  const seen = [
    state === 'stopped' ? NOT_RUNNING : null,
    state === 'stalled' ? STALLED : null,
    differs,
    facts.configFault === null ? null : configInvalid(facts.configFault),
    facts.health === 'unreadable' ? HEALTH_UNREADABLE : null,
  ];
  return {
    state,
    health,
    restartNeeded: differs !== null,
    degraded: [...(health?.degraded ?? []), ...seen.filter((each) => each !== null)],
  };
}

/** An earlier supervisor may have had the same pid, as in a container: what it wrote is older than this start. */
function healthOfNow({ instance, health }: ConditionFacts): Health | null {
  if (!instance.running || health === null || health === 'unreadable') return null;
  if (instance.pid !== null && instance.pid !== health.pid) return null;
  return timeOf(health.updated_at) < timeOf(instance.startedAt) ? null : health;
}

function stateOf({ instance, health: read, now }: ConditionFacts, health: Health | null): Condition['state'] {
  if (!instance.running) return 'stopped';
  // When it was last written cannot be told; that it is damaged is said by itself.
  if (read === 'unreadable') return 'running';
  const lastSign = timeOf(health === null ? instance.startedAt : health.updated_at);
  if (now - lastSign > STALLED_AFTER_MS) return 'stalled';
  return health === null ? 'starting' : 'running';
}

/** A time that is none is older than any. */
function timeOf(iso: string | null): number {
  return (iso === null ? null : parseIso(iso)) ?? 0;
}

function versionDiffers({ instance, ours }: ConditionFacts, health: Health | null): Degradation | null {
  if (!instance.running) return null;
  const version = instance.version ?? health?.version ?? ours.version;
  const index = health?.index_version ?? ours.indexVersion;
  if (version === ours.version && index === ours.indexVersion) return null;
  return {
    code: 'version_differs',
    cause: `the supervisor is liond ${version} with index ${index}, this is lion ${ours.version} with index ${ours.indexVersion}`,
    cure: 'restart the supervisor; answers stay right meanwhile',
  };
}

const NOT_RUNNING: Degradation = {
  code: 'supervisor_not_running',
  cause: 'no supervisor holds the lock of this store; ends are found and told when someone looks',
  cure: 'start one: lion daemon install (a service), or lion daemon run',
};

const STALLED: Degradation = {
  code: 'supervisor_stalled',
  cause: `a supervisor holds the lock and has not said how it is for ${STALLED_AFTER_MS / 1000} s`,
  cure: 'see the end of mcp/liond/liond.log; if it stays so, end it (kill -9 loses nothing) and start it again',
};

const HEALTH_UNREADABLE: Degradation = {
  code: 'health_unreadable',
  cause: 'mcp/liond/health.json cannot be read or is damaged',
  cure: 'remove it; the supervisor writes it anew within 15 s',
};

function configInvalid(fault: string): Degradation {
  return {
    code: 'config_invalid',
    cause: fault,
    cure: 'mend the file; lion goes by the defaults until then, and a supervisor does not start with it',
  };
}
