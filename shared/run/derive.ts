import { pyTruthy } from '../json/python.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { hasEnd } from './end.ts';

/** ADR-0106 D4: closed. `indeterminate`: it ended and its result cannot be established; never a failure. */
export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'indeterminate';

export const OUTCOMES = ['succeeded', 'failed', 'cancelled', 'indeterminate'] as const satisfies Outcome[];

export interface Derived {
  /** Open vocabulary, shown as it stands: never branched on. */
  readonly status: Json;
  /** Stop waiting: the record holds an end. */
  readonly terminal: boolean;
  /** Null exactly while `terminal` is false. */
  readonly outcome: Outcome | null;
  readonly reasonCode: Json;
  /** Its process is not shown alive, and nothing ended it: advisory. */
  readonly possiblyOrphaned: boolean;
}

/**
 * The one classification (ADR-0106 D4, design 6): a function of the record, and of liveness only where the
 * record holds no end. Two readers of an ended record never disagree.
 */
export function derive(record: JsonObject, alive: boolean): Derived {
  const recorded = record.has('status') ? (record.get('status') ?? null) : 'unknown';
  if (record.get('spawn_state') === 'failed') {
    return ended(recorded, 'failed', 'spawn_failed');
  }
  if (hasEnd(record)) return ended(recorded, outcomeOf(record, recorded), reasonOf(record, recorded));
  if (alive) return open('running', false);
  if (record.get('spawn_state') === 'preparing') return open(recorded, false);
  return open('exited', true);
}

function ended(status: Json, outcome: Outcome, reasonCode: Json): Derived {
  return { status, terminal: true, outcome, reasonCode, possiblyOrphaned: false };
}

function open(status: Json, possiblyOrphaned: boolean): Derived {
  return { status, terminal: false, outcome: null, reasonCode: null, possiblyOrphaned };
}

function outcomeOf(record: JsonObject, status: Json): Outcome {
  const recorded = record.get('outcome');
  const outcome = OUTCOMES.find((each) => each === recorded);
  if (outcome !== undefined) return outcome;
  if (status === 'completed') return 'succeeded';
  return status === 'cancelled' || status === 'aborted' ? 'cancelled' : 'failed';
}

function reasonOf(record: JsonObject, status: Json): Json {
  const recorded = record.get('reason_code');
  if (pyTruthy(recorded)) return recorded ?? null;
  return status === 'completed_empty' ? 'no_artifacts' : null;
}
