import { printable } from '../../shared/printable.ts';
import { notesOf, stateOf, type WatchedRun } from './watch.ts';

/** What is new between two looks, a line each, in the order in which runs were submitted. */
export function changeLines(
  before: readonly WatchedRun[],
  now: readonly WatchedRun[],
  time: string,
  isGone: (runId: string) => boolean,
): string[] {
  const earlier = new Map(before.map((run) => [run.runId, run]));
  const later = new Set(now.map(({ runId }) => runId));
  const line = (runId: string, words: string): string => `${time} ${printable(runId)} ${words}\n`;
  const gone = before.filter(({ runId }) => !later.has(runId) && isGone(runId));
  return [
    ...gone.map(({ runId }) => line(runId, 'is not in the store any more')),
    ...[...now]
      .reverse()
      .flatMap((run) => changesOf(earlier.get(run.runId), run).map((words) => line(run.runId, words))),
  ];
}

function changesOf(before: WatchedRun | undefined, { row }: WatchedRun): string[] {
  if (before === undefined) {
    const label = printable(row.label);
    return [
      [stateOf(row), ...notesOf(row), label === '' ? '' : `(${label})`]
        .filter((word) => word !== '')
        .join(' '),
    ];
  }
  const [was, is] = [stateOf(before.row), stateOf(row)];
  const [had, has] = [notesOf(before.row), notesOf(row)];
  return [
    ...(was === is ? [] : [`${was} -> ${is}`]),
    ...has.filter((note) => !had.includes(note)),
    ...had.filter((note) => !has.includes(note)).map((note) => `no longer ${note}`),
  ];
}
