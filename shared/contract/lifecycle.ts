import { isObject, type Json, type Jsonable, type JsonObject } from '../json/value.ts';
import type { Derived } from '../run/derive.ts';

/** The words MCP Tasks and A2A share, and `unknown` for a run whose outcome nobody can tell. */
export type LifecycleState =
  | 'submitted'
  | 'working'
  | 'input_required'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'unknown';

export interface Lifecycle {
  readonly [key: string]: Jsonable;
  readonly state: LifecycleState;
  /** What the shared word leaves out; null where it says it all. */
  readonly qualifier: string | null;
  readonly reason: Json;
  readonly code: Json;
  /** May the work be done again? Null where nothing says so. */
  readonly retryable: boolean | null;
  readonly correlation_id: Json;
}

/**
 * Where a run is in its life, in the words others use; beside status, terminal and outcome and never instead
 * of them. `outcome` says whether the work came out right (design 9).
 */
export function lifecycleOf(record: JsonObject, derived: Derived, degradedReason: string | null): Lifecycle {
  const words = derived.terminal ? endedWords(record, derived, degradedReason) : openWords(record, derived);
  const { state, ...rest } = words;
  return { state, ...NO_WORDS, correlation_id: record.get('trace_id') ?? null, ...rest };
}

const NO_WORDS = { qualifier: null, reason: null, code: null, retryable: null } as const;

export const JUST_STARTED: Lifecycle = { state: 'working', ...NO_WORDS, correlation_id: null };

type Words = Pick<Lifecycle, 'state'> & Partial<Omit<Lifecycle, 'state'>>;

function openWords(record: JsonObject, derived: Derived): Words {
  const recorded = record.get('status');
  if (recorded === 'awaiting-host') return { state: 'input_required', reason: 'host-execution' };
  if (recorded === 'awaiting-approval') return { state: 'input_required', reason: 'approval' };
  if (record.get('spawn_state') === 'preparing') return { state: 'submitted' };
  return derived.possiblyOrphaned
    ? { state: 'working', qualifier: 'possibly-orphaned' }
    : { state: 'working' };
}

function endedWords(record: JsonObject, derived: Derived, degradedReason: string | null): Words {
  if (derived.status === 'completed-prepare-only') return { state: 'completed', qualifier: 'prepare-only' };
  if (derived.status === 'degraded') {
    return {
      state: 'completed',
      qualifier: 'degraded',
      reason: degradedReason ?? record.get('reason') ?? null,
    };
  }
  switch (derived.outcome) {
    case 'succeeded':
      return { state: 'completed' };
    case 'cancelled':
      return { state: 'cancelled' };
    case 'indeterminate':
      return { state: 'unknown', qualifier: 'indeterminate', code: derived.reasonCode, retryable: false };
    case 'failed':
    case null:
      return { state: 'failed', code: derived.reasonCode, retryable: retryableOf(record) };
  }
}

function retryableOf(record: JsonObject): boolean | null {
  const cause = record.get('failure_cause');
  const retryable = isObject(cause) ? cause.get('retryable') : null;
  return typeof retryable === 'boolean' ? retryable : null;
}
