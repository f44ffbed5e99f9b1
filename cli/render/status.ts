import type { Jsonable } from '../../shared/json/value.ts';
import { isObject, type JsonObject, toJson } from '../../shared/json/value.ts';
import { parkedOf } from '../../shared/notify/next-step.ts';
import type { Available } from '../../shared/output/available.ts';
import type { Usage } from '../../shared/output/usage.ts';
import { printable, printableBlock } from '../../shared/printable.ts';
import { withAge } from './age.ts';
import { facts } from './facts.ts';
import { marksOf } from './marks.ts';
import type { Screen } from './screen.ts';
import { usageLine } from './usage.ts';

type Fields = Readonly<Record<string, Jsonable>>;

/** A run for a person: what became of it first, then how that is known, then the end of its log. */
export function renderStatus(screen: Screen, data: Fields, usage: Available<Usage> | null): string {
  const lines: [string, string][] = [
    ['run', printable(data.run_id)],
    ['label', printable(data.label)],
    ['kind', printable(data.kind)],
    ['status', headline(data)],
    ['reason', printable(data.reason_code)],
    ['process', processLine(data)],
    ['usage', usage === null ? '' : usageLine(usage, screen.nowMs)],
    ['submitted', withAge(data.submitted_at, screen.nowMs)],
    ['ended', endLine(data, screen)],
    ['ended by', printable(data.terminal_source)],
    ['survivors', Array.isArray(data.survivors) ? data.survivors.map(printable).join(', ') : ''],
    ['late report', printable(data.late_report)],
    ['notice', noticeLine(data)],
    ['not written', refusalLine(data)],
    ['degraded', printable(data.persistence_degraded_reason)],
    ['record', `${printable(data.job_dir)}/job.json`],
  ];
  return facts(screen, lines) + hints(data) + logTail(data);
}

function headline(data: Fields): string {
  const marks = marksOf({ ...data, notify_retry_state: null, notify_delivery_state: null, refusal: null });
  const outcome = printable(data.outcome);
  return [printable(data.status), outcome === '' ? 'not ended' : outcome, ...marks].join(' · ');
}

function processLine(data: Fields): string {
  const pid = printable(data.pid);
  if (pid === '') return '';
  const identity = printable(data.pid_identity);
  return `pid ${pid}, ${data.alive === true ? 'alive' : 'not alive'}${identity === '' ? '' : ` (${identity})`}`;
}

/** A time that was noticed and not reported is an upper bound, and is said to be one (ADR-0107 D4). */
function endLine(data: Fields, screen: Screen): string {
  const end = withAge(data.finished_at, screen.nowMs);
  return end !== '' && data.finished_at_precision === 'upper_bound' ? `${end}, at the latest` : end;
}

function noticeLine(data: Fields): string {
  const state = printable(data.notify_delivery_state);
  const retry = printable(data.notify_retry_state);
  if (state === 'none' && retry === '') return '';
  const delivery = deliveryOf(data);
  const parked = printable(parkedOf(delivery)?.reason);
  const why = ['error', 'failure_class'].map((key) => printable(delivery?.get(key))).filter(Boolean);
  return [state, parked === '' ? retry : `${retry} (${parked})`, ...why]
    .filter((word) => word !== '' && word !== 'none')
    .join(', ');
}

function deliveryOf(data: Fields): JsonObject | undefined {
  const wrapper = toJson(data.notify_delivery);
  const value = isObject(wrapper) ? wrapper.get('value') : undefined;
  return isObject(value) ? value : undefined;
}

function refusalLine(data: Fields): string {
  const refusal = toJson(data.refusal);
  return isObject(refusal) ? `${printable(refusal.get('code'))}: ${printable(refusal.get('message'))}` : '';
}

function hints(data: Fields): string {
  if (data.outcome === 'indeterminate') {
    return '\nIts process is gone and nothing reported how the work came out: it may have succeeded.\n';
  }
  if (data.pid_identity === 'unjudgeable' || data.pid_identity === 'other_host') {
    return '\nIts process cannot be judged from here. If this store is used from one place only, set\njudge_unowned_records: true in mcp/liond.yaml.\n';
  }
  return '';
}

function logTail(data: Fields): string {
  const wrapper = toJson(data.console);
  const text = isObject(wrapper) ? wrapper.get('value') : null;
  if (typeof text !== 'string' || text === '') return '';
  const lines = printableBlock(text).replace(/\n$/, '').split('\n').slice(-10);
  return `\nlast lines of its log:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
