import { type NoticeRow, noticeRow } from '../../shared/contract/notice-view.ts';
import { isInState, isUnsettled } from '../../shared/notify/notice-filter.ts';
import { findNotices } from '../../shared/notify/notices.ts';
import { printable } from '../../shared/printable.ts';
import { limitOf } from '../limit.ts';
import { until } from '../render/age.ts';
import { noticeState, noticeWhy } from '../render/notice.ts';
import type { Screen } from '../render/screen.ts';
import { table } from '../render/table.ts';
import type { Answer, Call } from '../verb.ts';
import { stateOf } from './state.ts';

export interface NotifyListOptions {
  readonly state?: string;
  readonly limit?: string;
}

/** `lion notify list`: notices that are not settled, newest first, from the records alone. */
export async function notifyList(call: Call, options: NotifyListOptions): Promise<Answer> {
  const limit = limitOf(options.limit);
  const state = stateOf(options.state);
  const engine = await call.open();
  const { runs, truncated } = findNotices(
    engine,
    (delivery) => (state === null ? isUnsettled(delivery) : isInState(delivery, state)),
    limit,
  );
  const notices = runs.map(({ runId, record }) => noticeRow(engine, runId, record));
  const none = state === null ? 'Every notice is settled.\n' : `No notice is ${state}.\n`;
  return {
    data: { notices, truncated, limit },
    human: (screen) => (notices.length === 0 ? none : render(screen, notices, truncated, limit)),
  };
}

function render(screen: Screen, rows: readonly NoticeRow[], truncated: boolean, limit: number): string {
  const cells = (pick: (row: NoticeRow) => string): string[] => rows.map(pick);
  const text = table(
    [
      { title: 'RUN', cells: cells((row) => printable(row.run_id)) },
      { title: 'STATE', cells: cells(noticeState) },
      { title: 'TRIES', cells: cells((row) => printable(row.attempts)) },
      { title: 'NEXT', cells: cells((row) => nextCell(row, screen.nowMs)) },
      { title: 'WHY', cells: cells(noticeWhy), shrink: 16 },
      { title: 'LABEL', cells: cells((row) => printable(row.label)), shrink: 8, optional: true },
    ],
    screen.columns,
  );
  return truncated ? `${text}More than ${limit}: see them with --limit N.\n` : text;
}

function nextCell(row: NoticeRow, nowMs: number): string {
  const comes = row.notify_retry_state === 'owed' || row.notify_retry_state === 'retrying';
  return comes ? until(row.next_at, nowMs) : '';
}
