import type { Engine } from '../engine.ts';
import { type Json, type JsonObject, toJson } from '../json/value.ts';
import { type OwedNotice, withOwed } from '../notify/owed.ts';
import { type Mutation, mutateRecord } from '../record/mutate.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso } from '../time/iso.ts';
import { hasEnd } from './end.ts';

export interface TerminalReport {
  readonly status: string;
  readonly reasonCode: string | null;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  /** What the child left about why it failed. */
  readonly cause: JsonObject | null;
  readonly owed: OwedNotice;
}

/** A hook may have to wait behind several observers; its run is over, so the wait costs nobody anything. */
export const WRITER_LOCK_WAIT_MS = 5_000;

/**
 * The child's own report of its end (terminal hook). An end that is there stays; the report is then kept beside
 * it as `late_report` where an observer inferred that end (ADR-0107 D5).
 */
export async function markTerminal(
  engine: Engine,
  runId: string,
  report: TerminalReport,
): Promise<Mutation<'recorded' | 'already_ended'>> {
  const at = formatIso(engine.now());
  const options = { waitMs: WRITER_LOCK_WAIT_MS, signal: engine.signal, now: engine.now };
  return mutateRecord(runDirOf(engine.home, runId), runId, options, (record) =>
    hasEnd(record)
      ? { verdict: 'already_ended', set: besideTheEnd(record, report, at) }
      : { verdict: 'recorded', set: endOf(record, report, at) },
  );
}

function endOf(record: JsonObject, report: TerminalReport, at: string): Map<string, Json> {
  const end = new Map<string, Json>([
    ['status', report.status],
    ['finished_at', at],
    ['notify_delivery', withOwed(record.get('notify_delivery'), report.owed)],
    ['cli_status', report.status],
  ]);
  if (report.reasonCode !== null) end.set('reason_code', report.reasonCode);
  end.set('finished_at_precision', 'observed');
  end.set('terminal_source', 'cli_terminal_hook');
  if (report.exitCode !== null) end.set('exit_code', toJson(report.exitCode));
  if (report.exitSignal !== null) end.set('exit_signal', report.exitSignal);
  if (report.cause !== null) end.set('failure_cause', report.cause);
  return end;
}

function besideTheEnd(record: JsonObject, report: TerminalReport, at: string): Map<string, Json> {
  const set = new Map<string, Json>();
  if ((record.get('notify_delivery') ?? null) === null)
    set.set('notify_delivery', withOwed(null, report.owed));
  if (record.get('terminal_source') === 'mcp_orphan_reaper' && !record.has('late_report')) {
    if (report.cause !== null && !record.has('failure_cause')) set.set('failure_cause', report.cause);
    const { status, reasonCode, exitCode } = report;
    set.set('late_report', toJson({ status, reason_code: reasonCode, exit_code: exitCode, reported_at: at }));
  }
  return set;
}
