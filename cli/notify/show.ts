import { type NoticeData, noticeData } from '../../shared/contract/notice-view.ts';
import { recordRefusal } from '../../shared/contract/record-errors.ts';
import { resolveNotifier } from '../../shared/notify/notifier.ts';
import { printable } from '../../shared/printable.ts';
import { readRecord } from '../../shared/record/read.ts';
import { runDirOf } from '../../shared/store/home.ts';
import { resolveRunId } from '../../shared/store/run-id.ts';
import { until, withAge } from '../render/age.ts';
import { facts } from '../render/facts.ts';
import { noticeState, noticeWhy, notifierLine } from '../render/notice.ts';
import type { Screen } from '../render/screen.ts';
import type { Answer, Call } from '../verb.ts';

/** `lion notify show RUN`: where one run's notice stands, what would send it, and what happens next. */
export async function notifyShow(call: Call, id: string): Promise<Answer> {
  const engine = await call.open();
  const runId = resolveRunId(engine.home, id);
  const read = readRecord(runDirOf(engine.home, runId));
  if (read.state !== 'ok') throw recordRefusal(runId, read);
  const record = read.object.value;
  const data = noticeData(engine, runId, record, await resolveNotifier(engine, runId, record));
  return { data, human: (screen) => render(screen, data) };
}

function render(screen: Screen, data: NoticeData): string {
  const { words, at } = data.next;
  return facts(screen, [
    ['run', printable(data.run_id)],
    ['label', printable(data.label)],
    ['outcome', printable(data.outcome)],
    ['ended', withAge(data.finished_at, screen.nowMs)],
    ['notice', noticeState(data)],
    ['why', noticeWhy(data)],
    ['tries', printable(data.attempts)],
    ['delivery id', printable(data.delivery_id)],
    ['notifier', notifierLine(data.notifier)],
    ['next', at === null ? words : `${words} (${at}, ${until(at, screen.nowMs)})`],
  ]);
}
