import { hash } from 'node:crypto';
import type { IndexRow } from './schema.ts';

export type Column = string | number | null;

/** The values of a row of `runs`, in the order of its columns, the last one the sum of the others. */
export function toColumns(row: IndexRow): Column[] {
  const values = [
    row.runId,
    row.signature,
    Number(row.settled),
    row.recordState,
    Number(row.terminal),
    row.status,
    row.outcome,
    row.kind,
    row.label,
    row.reasonCode,
    row.submittedMs,
    row.notifyState,
    row.retryState,
    JSON.stringify(row.tags),
    row.row,
  ];
  return [...values, sumOf(values)];
}

/** Null: this is not what `toColumns` made, and nothing of it is to be believed. */
export function fromColumns(columns: readonly unknown[]): IndexRow | null {
  if (columns.at(-1) !== sumOf(columns.slice(0, -1))) return null;
  const [tags, row] = columns.slice(13) as [string, string];
  return {
    runId: columns[0] as string,
    signature: columns[1] as Text,
    settled: columns[2] === 1,
    recordState: columns[3] as string,
    terminal: columns[4] === 1,
    status: columns[5] as Text,
    outcome: columns[6] as Text,
    kind: columns[7] as Text,
    label: columns[8] as Text,
    reasonCode: columns[9] as Text,
    submittedMs: columns[10] as number | null,
    notifyState: columns[11] as Text,
    retryState: columns[12] as Text,
    tags: JSON.parse(tags),
    row,
  };
}

type Text = string | null;

/**
 * SQLite keeps no checksums: a bit that changes in a text shows nowhere else. Over the UTF-8 of the values, as
 * SQLite gives them back, whatever they were as strings here.
 */
function sumOf(values: readonly unknown[]): string {
  return hash('sha1', values.map((value) => (value === null ? '\u0001' : value)).join('\0'));
}
