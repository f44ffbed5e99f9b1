/**
 * May a run be removed? Pure: facts in, a verdict out. What protects a run is asked before what the rule says,
 * so that the counts of a dry run show what is held back and why. `force` lifts the protection of damaged,
 * undelivered and reserved ones, never that of a run without an end or with a process.
 */
import type { Outcome } from '../derive.ts';

export interface RunFacts {
  /**
   * `ended`: an end is on the record, or its spawn failed. `open`: neither. `damaged`: the record cannot be read,
   * or is not this run's. `reserved`: there is no record.
   */
  readonly state: 'ended' | 'open' | 'damaged' | 'reserved';
  /** `unknown`: a process here may be the run's and cannot be identified. */
  readonly life: 'none_seen' | 'alive' | 'unknown';
  /** Nothing of its notice is still to come, or held for a person. */
  readonly noticeSettled: boolean;
  readonly outcome: Outcome | null;
  /** Epoch milliseconds of its end; null where the record has none that can be read. */
  readonly endedMs: number | null;
  /** Epoch milliseconds of the last change to its record, without one to its directory. */
  readonly changedMs: number | null;
  /** Its name is one that a submitter gives. */
  readonly hasRunName: boolean;
}

/** All that are given must hold; null: not given. */
export interface PruneRule {
  /** Ended longer ago than this. */
  readonly olderThanMs: number | null;
  /** So many of the newest runs of the store stay, whatever they are. */
  readonly keepNewest: number | null;
  /** Oldest first, until the store takes no more than this. */
  readonly maxBytes: number | null;
  readonly outcomes: readonly Outcome[] | null;
  readonly force: boolean;
}

/** What a configuration may ask for: nothing that needs a person's word. */
export type Retention = Pick<PruneRule, 'olderThanMs' | 'keepNewest' | 'maxBytes'>;

export interface StoreFacts {
  readonly isAmongNewest: boolean;
  /** What the store takes now; only asked for by `maxBytes`. */
  readonly storeBytes: number;
}

export type KeepReason =
  | 'not_ended'
  | 'alive'
  | 'maybe_alive'
  | 'undelivered'
  | 'damaged'
  | 'reserved'
  | 'outside_rule'
  | 'changed_meanwhile';

export type Verdict = 'remove' | { readonly keep: KeepReason };

/** A submitter takes a moment from its reservation to its record, and a stopped machine makes that long. */
const RESERVATION_LASTS_MS = 24 * 3_600_000;

export function decide(facts: RunFacts, store: StoreFacts, rule: PruneRule, nowMs: number): Verdict {
  const protection = protectionOf(facts, rule.force, nowMs);
  if (protection !== null) return { keep: protection };
  return isCovered(facts, store, rule, nowMs) ? 'remove' : { keep: 'outside_rule' };
}

function protectionOf(facts: RunFacts, force: boolean, nowMs: number): KeepReason | null {
  if (facts.state === 'open') return 'not_ended';
  if (facts.life !== 'none_seen') return facts.life === 'alive' ? 'alive' : 'maybe_alive';
  if (facts.state === 'damaged') return force ? null : 'damaged';
  if (facts.state === 'reserved') return force && isForsaken(facts, nowMs) ? null : 'reserved';
  return facts.noticeSettled || force ? null : 'undelivered';
}

/** A directory of another name was not made by a submitter, and may be anything. */
function isForsaken(facts: RunFacts, nowMs: number): boolean {
  return facts.hasRunName && facts.changedMs !== null && nowMs - facts.changedMs > RESERVATION_LASTS_MS;
}

function isCovered(facts: RunFacts, store: StoreFacts, rule: PruneRule, nowMs: number): boolean {
  if (rule.keepNewest !== null && store.isAmongNewest) return false;
  if (rule.maxBytes !== null && store.storeBytes <= rule.maxBytes) return false;
  if (rule.outcomes !== null && !(facts.outcome !== null && rule.outcomes.includes(facts.outcome)))
    return false;
  return rule.olderThanMs === null || ageMs(facts, nowMs) > rule.olderThanMs;
}

/** A time in the future tells no age: a clock was wrong, then or now. */
function ageMs(facts: RunFacts, nowMs: number): number {
  const since = [facts.endedMs, facts.changedMs].find((time) => time !== null && time <= nowMs);
  return nowMs - (since ?? nowMs);
}
