import stringWidth from 'string-width';

/** On a narrow screen `shrink` columns give way to so many columns, the last first, then `optional` ones go. */
export interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  readonly shrink?: number;
  readonly optional?: boolean;
  /** Wraps a padded cell, for colour; it must not change its width. */
  readonly paint?: (padded: string, row: number) => string;
}

const GAP = '  ';

/** Lines of a table no wider than `width`; null cuts nothing. Empty columns are left out. */
export function table(columns: readonly Column[], width: number | null): string {
  const { shown, widths } = fitColumns(
    columns.filter((column) => column.cells.some((cell) => cell !== '')),
    width,
  );
  const rows = shown[0]?.cells.length ?? 0;
  const lines = [
    joinCells(shown.map((column, at) => pad(clip(column.title, widths[at] ?? 0), widths[at] ?? 0))),
  ];
  for (let row = 0; row < rows; row++) {
    const cells = shown.map((column, at) => {
      const padded = pad(clip(column.cells[row] ?? '', widths[at] ?? 0), widths[at] ?? 0);
      return column.paint === undefined ? padded : column.paint(padded, row);
    });
    lines.push(joinCells(cells));
  }
  return `${lines.join('\n')}\n`;
}

interface Fitted {
  readonly shown: readonly Column[];
  readonly widths: readonly number[];
}

function fitColumns(columns: readonly Column[], width: number | null): Fitted {
  const widths = columns.map((column) =>
    Math.max(...[column.title, ...column.cells].map((cell) => stringWidth(cell))),
  );
  if (width === null) return { shown: columns, widths };
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1) - width;
  for (let at = columns.length - 1; at >= 0 && excess > 0; at--) {
    const least = columns[at]?.shrink ?? widths[at] ?? 0;
    const cut = Math.min(excess, Math.max(0, (widths[at] ?? 0) - least));
    widths[at] = (widths[at] ?? 0) - cut;
    excess -= cut;
  }
  const spare = columns.findLastIndex((column) => column.optional);
  if (excess <= 0 || spare === -1) return { shown: columns, widths };
  return fitColumns(
    columns.filter((_column, at) => at !== spare),
    width,
  );
}

function joinCells(cells: readonly string[]): string {
  return cells.join(GAP).trimEnd();
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** Cut to a width in columns, saying that it was. */
export function clip(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
