import type { Row } from '../../shared/contract/row.ts';
import type { Available } from '../../shared/output/available.ts';
import type { Usage } from '../../shared/output/usage.ts';
import { printable } from '../../shared/printable.ts';
import { age } from './age.ts';
import { marksOf } from './marks.ts';
import { colourOf } from './run-table.ts';
import { paint, type Screen } from './screen.ts';
import { clip, table } from './table.ts';
import { usageCell } from './usage.ts';

/** What is known of a run at one look. */
export interface WatchedRun {
  readonly runId: string;
  readonly row: Row;
  readonly usage: Available<Usage>;
  /** The end of its log. */
  readonly logEnd: string;
}

/** Below this a run goes by the end of its id, which names it as well. */
const NARROW = 60;

/** The whole view: no more lines than the screen has, and none wider. */
export function watchLines(screen: Screen, runs: readonly WatchedRun[], fault: string | null): string[] {
  const { columns, rows } = screen;
  const head = clip(headline(screen, runs, fault), columns ?? Number.POSITIVE_INFINITY);
  // The headline, the titles, and where not all fit the line that says so.
  const room = rows === null ? runs.length : Math.max(0, rows - 2);
  const shown = runs.length <= room ? runs : runs.slice(0, Math.max(0, room - 1));
  const lines = [paint(screen, fault === null ? 'dim' : 'yellow', head)];
  if (shown.length > 0) lines.push(...runLines(screen, shown));
  const more = runs.length - shown.length;
  if (more > 0) lines.push(paint(screen, 'dim', clip(`... and ${more} more`, columns ?? 80)));
  return rows === null ? lines : lines.slice(0, Math.max(1, rows));
}

/** The runs alone, as lines of a table. */
export function runLines(screen: Screen, runs: readonly WatchedRun[]): string[] {
  const cells = (pick: (run: WatchedRun) => string): string[] => runs.map(pick);
  const isNarrow = screen.columns !== null && screen.columns < NARROW;
  const isSampled = runs.some(({ usage }) => usage.value !== null);
  const text = table(
    [
      { title: 'RUN', cells: isNarrow ? shortIds(runs) : cells(({ runId }) => printable(runId)), shrink: 6 },
      {
        title: 'STATE',
        cells: cells(({ row }) => stateOf(row)),
        paint: (padded, at) => paint(screen, colourOf(runs[at]?.row), padded),
        shrink: 7,
      },
      { title: 'AGE', cells: cells(({ row }) => age(row.submitted_at, screen.nowMs)) },
      { title: 'USAGE', cells: cells(({ usage }) => (isSampled ? usageCell(usage) : '')), optional: true },
      {
        title: 'NOTICE',
        cells: cells(({ row }) => noticesOf(row).join(' ')),
        paint: (padded) => paint(screen, 'yellow', padded),
        shrink: 6,
      },
      {
        title: 'NOTE',
        cells: cells(({ row }) => othersOf(row).join(' ')),
        paint: (padded) => paint(screen, 'yellow', padded),
        shrink: 8,
      },
      { title: 'LABEL', cells: cells(({ row }) => printable(row.label)), shrink: 8, optional: true },
      {
        title: 'LAST LINE',
        cells: cells(({ logEnd }) => lastLine(logEnd)),
        shrink: isNarrow ? 8 : 18,
      },
    ],
    screen.columns,
  );
  // Where even the least does not fit, what is cut is seen to be.
  const width = screen.columns ?? Number.POSITIVE_INFINITY;
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (screen.colour ? line : clip(line, width)));
}

/** What became of a run in a word: its outcome, and before it has one its status. */
export function stateOf(row: Row): string {
  return printable(row.outcome) || printable(row.status);
}

/** The marks of a list, and the notice that got through: here it is news. */
export function notesOf(row: Row): string[] {
  const marks = marksOf(row);
  return row.notify_delivery_state === 'delivered' && row.notify_retry_state === null
    ? [...marks, 'notice:delivered']
    : marks;
}

const NOTICE = 'notice:';

function noticesOf(row: Row): string[] {
  return notesOf(row).flatMap((note) => (note.startsWith(NOTICE) ? [note.slice(NOTICE.length)] : []));
}

function othersOf(row: Row): string[] {
  return notesOf(row).filter((note) => !note.startsWith(NOTICE));
}

function headline(screen: Screen, runs: readonly WatchedRun[], fault: string | null): string {
  if (fault !== null) return `not up to date: ${printable(fault)}`;
  const open = runs.filter(({ row }) => row.terminal !== true).length;
  const counts = runs.length === 0 ? 'no open runs' : `${open} open, ${runs.length - open} ended`;
  return `${new Date(screen.nowMs).toTimeString().slice(0, 8)}  ${counts}  Ctrl-C ends the view, no run`;
}

function shortIds(runs: readonly WatchedRun[]): string[] {
  const ends = runs.map(({ runId }) => /^\d{8}T\d{6}-([0-9a-f]{6})$/.exec(runId)?.[1] ?? runId);
  return runs.map(({ runId }, at) => {
    const end = ends[at] ?? runId;
    return printable(ends.filter((each) => each === end).length === 1 ? end : runId);
  });
}

/** Of one line; no screen is that wide. */
const MOST_CHARS = 400;
const COLOURS = /\u001b\[[0-9;:]*m/g;

/** Of a log that is coloured only the words; all else that could steer a terminal is shown as escapes. */
function lastLine(logEnd: string): string {
  const lines = logEnd.replace(COLOURS, '').split('\n');
  const line = lines.findLast((each) => each.trim() !== '') ?? '';
  return printable(line.trim().slice(0, MOST_CHARS).replaceAll('\t', ' '));
}
