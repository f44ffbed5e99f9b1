import type { NoticeRow, NotifierData } from '../../shared/contract/notice-view.ts';
import { printable } from '../../shared/printable.ts';

/** Where a notice stands, in a word or two. */
export function noticeState(row: NoticeRow): string {
  if (row.claimed === true) return 'under way';
  if (row.notify_retry_state !== null) return printable(row.notify_retry_state);
  return row.notify_delivery_state === 'delivered_unverified'
    ? 'unverified'
    : printable(row.notify_delivery_state);
}

/** Why it stands there: what holds it, then how the last attempt failed. */
export function noticeWhy(row: NoticeRow): string {
  if (row.claimed === true) return '';
  return [row.parked_reason ?? row.skipped, failureOf(row)].map(printable).filter(Boolean).join(': ');
}

function failureOf(row: NoticeRow): NoticeRow[string] {
  if (row.error !== null) return row.error;
  if (row.notify_delivery_state !== 'failed') return null;
  const words = row.failure_class === 'unknown' ? '' : printable(row.failure_class);
  return words === '' ? `exit ${printable(row.exit_code)}` : words;
}

/** A notifier by its program's name, where it comes from, and what is wrong with it. */
export function notifierLine({ source, program, usable, reasons }: NotifierData): string {
  if (source === 'none') return 'none is configured';
  const named = [printable(program), `(from ${source})`].filter(Boolean).join(' ');
  return usable ? named : `${named}, unusable: ${reasons.map(printable).join(', ')}`;
}
