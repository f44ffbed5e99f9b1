import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { isObject, type JsonObject } from '../json/value.ts';
import { attemptNotice } from '../notify/attempt-notice.ts';
import { deliveryStateOf } from '../notify/delivery-state.ts';
import { type HookArguments, resolveNotifier, textOf } from '../notify/notifier.ts';
import { readRecord } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { noteInConsole } from './console-note.ts';
import { readFailureCause } from './failure-cause.ts';
import { markTerminal } from './mark-terminal.ts';
import { isRegisteredReason } from './reason-codes.ts';

export interface HookReport {
  readonly runId: string;
  readonly status: string;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly hook: HookArguments;
}

export type HookOutcome =
  | { readonly kind: 'done' }
  /** There is no such record: nothing to say, and nothing to be told about (ADR-0107 D5). */
  | { readonly kind: 'no_record' }
  /** The end or the result of the notice is not on the record: the process exits non-zero. */
  | { readonly kind: 'not_recorded'; readonly what: string };

/**
 * What a run does as its last act: records its end, then sends its notice. A notice never goes out for an end
 * that is not on the record (ADR-0107 D5, D7).
 */
export async function reportTerminal(engine: Engine, report: HookReport): Promise<HookOutcome> {
  const { runId } = report;
  const runDir = runDirOf(engine.home, runId);
  const reasonCode = reasonFromPayload(engine.env.LIONAGI_NOTIFY_PAYLOAD);
  const before = readRecord(runDir);
  const record = before.state === 'ok' ? before.object.value : new Map();
  const notifier = await resolveNotifier(engine, runId, record, report.hook);
  const marked = await markTerminal(engine, runId, {
    status: report.status,
    reasonCode,
    exitCode: report.exitCode,
    exitSignal: report.exitSignal,
    cause: readFailureCause(engine.env.LIONAGI_MCP_CAUSE_FILE || join(runDir, 'terminal_cause.json')),
    owed: { owed: notifier.kind !== 'none' },
  });
  if (marked.kind === 'no_record' && marked.state === 'absent') return { kind: 'no_record' };
  if (marked.kind !== 'done') {
    const why = marked.kind === 'refused' ? marked.refusal.message : "the record is not this run's to write";
    return notRecorded(runDir, runId, 'its end', why);
  }
  const attempt = await attemptNotice(engine, runId, { role: 'hook', hook: report.hook, reasonCode });
  if (attempt.kind === 'refused') {
    const what = attempt.launched ? 'the result of its notice' : 'the attempt at its notice';
    return notRecorded(runDir, runId, what, 'the record could not be locked or written');
  }
  if (attempt.kind === 'settled') noteDelivery(runDir, runId, attempt.delivery);
  return { kind: 'done' };
}

function reasonFromPayload(payload: string | undefined): string | null {
  if (!payload) return null;
  try {
    const parsed = parseJson(payload);
    const code = isObject(parsed) ? parsed.get('reason_code') : null;
    return isRegisteredReason(code) ? code : null;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

function notRecorded(runDir: string, runId: string, what: string, why: string): HookOutcome {
  noteInConsole(
    runDir,
    `run ${runId}: ${what} could not be recorded (${why}); the record is unchanged.${what === 'its end' ? ' No notice was sent.' : ''}`,
  );
  return { kind: 'not_recorded', what: `${what}: ${why}` };
}

function noteDelivery(runDir: string, runId: string, delivery: JsonObject): void {
  switch (deliveryStateOf(delivery)) {
    case 'delivered_unverified': {
      const reason = textOf(delivery.get('unverified_reason'));
      noteInConsole(
        runDir,
        `WARNING: the notice of run ${runId} was sent and could not be verified (${reason}).`,
      );
      return;
    }
    case 'failed':
    case 'unknown': {
      const error = textOf(delivery.get('error')) || `exit ${textOf(delivery.get('exit_code'))}`;
      const failureClass = textOf(delivery.get('failure_class'));
      noteInConsole(
        runDir,
        `the notice of run ${runId} was NOT delivered: ${error}${failureClass ? ` (${failureClass})` : ''}. The run itself ended.`,
      );
      return;
    }
    case 'none':
    case 'delivered':
      return;
  }
}
