import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { errnoOf } from '../errno.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { isObject, type Json, type JsonObject, toJson } from '../json/value.ts';
import { isConclusive } from '../liveness/finding.ts';
import { type OwedNotice, withOwed } from '../notify/owed.ts';
import { mutateRecord, type Refusal } from '../record/mutate.ts';
import { readBounded, UnusableFile } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { type Probed, type ReapRefusal, refuseReap } from './admit.ts';

export interface ReapRequest {
  /** What the probe established; anything but ADR-0107 D2's three findings is refused. */
  readonly finding: string;
  /** ISO time of the observation: becomes `finished_at`, an upper bound of the end. */
  readonly observedAt: string;
  readonly probed: Probed;
  /** Live processes that carry the run's mark, named beside the end. */
  readonly survivors: readonly number[];
  readonly owed: OwedNotice;
  readonly lockWaitMs: number;
}

export interface ReapResult {
  /** Only the winner may send the first notice (ADR-0107 D7). */
  readonly wonTransition: boolean;
  readonly record: JsonObject | null;
  readonly reason:
    | 'reaped'
    | ReapRefusal
    | 'record_names_another_run'
    | `no_usable_record:${string}`
    | Refusal['code'];
  readonly refusal: Refusal | null;
}

/**
 * Ends a conclusive orphan, once: under the lock, after a reread, all conditions or nothing (ADR-0107 D1, D3,
 * D4). Readers and the supervisor call this one function.
 */
export async function reapOrphan(engine: Engine, runId: string, request: ReapRequest): Promise<ReapResult> {
  if (!isConclusive(request.finding)) {
    return { wonTransition: false, record: null, reason: 'finding_is_not_conclusive', refusal: null };
  }
  const end = endOf(request, undeliveredByChild(engine, runId));
  const options = { waitMs: request.lockWaitMs, signal: engine.signal, now: engine.now };
  const mutation = await mutateRecord(runDirOf(engine.home, runId), runId, options, (record) => {
    const refusal = refuseReap(record, request.finding, request.probed);
    if (refusal !== null) return { verdict: refusal };
    // A result that is on the record already is a fact about its notice; it is not sent again.
    const delivery = withOwed(record.get('notify_delivery'), request.owed);
    return { verdict: null, set: new Map([...end, ['notify_delivery', delivery]]) };
  });
  switch (mutation.kind) {
    case 'refused':
      return lost(null, mutation.refusal.code, mutation.refusal);
    case 'no_record':
      return lost(null, `no_usable_record:${mutation.state}`);
    case 'foreign':
      return lost(mutation.record, 'record_names_another_run');
    case 'done':
      return mutation.verdict === null
        ? { wonTransition: true, record: mutation.record, reason: 'reaped', refusal: null }
        : lost(mutation.record, mutation.verdict);
  }
}

function lost(
  record: JsonObject | null,
  reason: ReapResult['reason'],
  refusal: Refusal | null = null,
): ReapResult {
  return { wonTransition: false, record, reason, refusal };
}

function endOf(request: ReapRequest, noticeUndelivered: boolean): Map<string, Json> {
  const end = new Map<string, Json>([
    ['status', 'exited'],
    ['outcome', 'indeterminate'],
    [
      'reason_code',
      noticeUndelivered ? 'process_gone_notice_recorded_undelivered' : 'process_gone_without_outcome',
    ],
    ['finished_at', request.observedAt],
    ['finished_at_precision', 'upper_bound'],
    ['terminal_source', 'mcp_orphan_reaper'],
    ['terminal_evidence', toJson({ kind: 'process_identity_conclusively_gone', finding: request.finding })],
  ]);
  if (request.survivors.length > 0) end.set('survivors', toJson([...request.survivors]));
  return end;
}

const MAX_OUTCOME_BYTES = 64 * 1024;

/** The child left word that its own notice failed; whatever else the file holds says nothing. */
function undeliveredByChild(engine: Engine, runId: string): boolean {
  try {
    const { bytes } = readBounded(join(engine.home.runsDir, runId, 'notify_outcome.json'), MAX_OUTCOME_BYTES);
    const outcome = parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return isObject(outcome) && outcome.get('ok') === false;
  } catch (error) {
    const known =
      error instanceof UnusableFile || error instanceof JsonSyntaxError || error instanceof TypeError;
    if (known || errnoOf(error) !== null) return false;
    throw error;
  }
}
