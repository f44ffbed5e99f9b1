import type { Row } from '../../shared/contract/row.ts';
import type { Available } from '../../shared/output/available.ts';
import type { Usage } from '../../shared/output/usage.ts';
import { printable } from '../../shared/printable.ts';
import { age } from './age.ts';
import { marksOf } from './marks.ts';
import { paint, type Screen } from './screen.ts';
import { table } from './table.ts';
import { usageCell } from './usage.ts';

export function runTable(
  screen: Screen,
  rows: readonly Row[],
  usages: readonly Available<Usage>[] | null,
  truncated: boolean,
  limit: number,
): string {
  const cells = (pick: (row: Row) => string): string[] => rows.map(pick);
  const text = table(
    [
      { title: 'RUN', cells: cells((row) => printable(row.run_id)) },
      { title: 'STATUS', cells: cells((row) => printable(row.status)), shrink: 8 },
      {
        title: 'OUTCOME',
        cells: cells((row) => printable(row.outcome)),
        paint: (padded, at) => paint(screen, colourOf(rows[at]), padded),
      },
      { title: 'AGE', cells: cells((row) => age(row.submitted_at, screen.nowMs)), optional: true },
      { title: 'USAGE', cells: usages?.map(usageCell) ?? cells(() => '') },
      { title: 'KIND', cells: cells((row) => printable(row.kind)), shrink: 6, optional: true },
      { title: 'LABEL', cells: cells((row) => printable(row.label)), shrink: 8, optional: true },
      {
        title: 'NOTE',
        cells: cells((row) => marksOf(row).join(' ')),
        paint: (padded) => paint(screen, 'yellow', padded),
        shrink: 8,
      },
    ],
    screen.columns,
  );
  return truncated ? `${text}More than ${limit}: see them with --limit N.\n` : text;
}

export function colourOf(row: Row | undefined): 'green' | 'red' | 'yellow' | 'dim' {
  switch (row?.outcome) {
    case 'succeeded':
      return 'green';
    case 'failed':
      return 'red';
    case 'indeterminate':
      return 'yellow';
    default:
      return 'dim';
  }
}
