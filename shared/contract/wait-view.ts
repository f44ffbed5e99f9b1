import type { Engine } from '../engine.ts';
import type { Jsonable } from '../json/value.ts';
import { degradedReason, readManifest } from '../output/manifest.ts';
import { UNRESOLVED_SPAWN_AFTER_S } from '../run/preparing.ts';
import { recordOf } from '../run/status.ts';
import type { WaitEntry, WaitResult } from '../run/wait.ts';
import { lifecycleOf } from './lifecycle.ts';
import { survivorsOf } from './row.ts';

/** A requested number as it was given, and what it was clamped to. */
export interface Clamped {
  readonly requested: Jsonable;
  readonly effective: number;
}

/** `data` of `lion job wait` (ADR-0106 D10). */
export function waitData(
  engine: Engine,
  result: WaitResult,
  maxWait: Clamped,
  poll: Clamped,
): Readonly<Record<string, Jsonable>> {
  const { entries } = result;
  const idsIn = (bucket: WaitEntry['bucket']): Jsonable =>
    entries.filter((entry) => entry.bucket === bucket).map((entry) => entry.status?.runId ?? null);
  return {
    runs: entries.map((entry) => entryData(engine, entry)),
    all_terminal: entries.every((entry) => entry.bucket === 'terminal'),
    timed_out: result.timedOut,
    pending: idsIn('pending'),
    stopped_without_end: idsIn('stopped_without_end'),
    unresolved_spawn: idsIn('unresolved_spawn'),
    unresolved_spawn_after: UNRESOLVED_SPAWN_AFTER_S,
    max_wait: maxWait.effective,
    poll_interval: poll.effective,
    requested_max_wait: maxWait.requested,
    requested_poll_interval: poll.requested,
  };
}

function entryData(engine: Engine, entry: WaitEntry): Jsonable {
  if (entry.error !== null || entry.status === null) return errorData(entry);
  const { status } = entry;
  const record = recordOf(status);
  const { derived } = status;
  return {
    run_id: status.runId,
    kind: record.get('kind') ?? null,
    label: record.get('label') ?? null,
    status: derived.status,
    terminal: derived.terminal,
    outcome: derived.outcome,
    reason_code: derived.reasonCode,
    possibly_orphaned: derived.possiblyOrphaned,
    spawn_state: record.get('spawn_state') ?? null,
    submitted_at: record.get('submitted_at') ?? null,
    finished_at: record.get('finished_at') ?? null,
    finished_at_precision: record.get('finished_at_precision') ?? null,
    terminal_source: record.get('terminal_source') ?? null,
    alive: status.liveness.alive,
    survivors: survivorsOf(status),
    lifecycle: lifecycleOf(record, derived, degradedReason(readManifest(engine, status.runId))),
    refusal: status.refusal === null ? null : { ...status.refusal },
    error: null,
  };
}

function errorData({ id, error }: WaitEntry): Jsonable {
  return {
    run_id: id as Jsonable,
    kind: null,
    label: null,
    status: 'unknown',
    terminal: false,
    outcome: null,
    reason_code: null,
    possibly_orphaned: false,
    spawn_state: null,
    submitted_at: null,
    error: error === null ? null : { kind: error.kind, message: error.message, detail: error.detail },
  };
}
