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
    row.finishedMs,
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
  const [runId, signature, settled, recordState, terminal, status, outcome, kind, label, ...rest] =
    columns as Head;
  const [reasonCode, submittedMs, finishedMs, notifyState, retryState, tags, row] = rest;
  return {
    ...{ runId, signature, settled: settled === 1, recordState, terminal: terminal === 1, status, outcome },
    ...{ kind, label, reasonCode, submittedMs, finishedMs, notifyState, retryState },
    tags: JSON.parse(tags),
    row,
  };
}

type Text = string | null;
type Head = [string, Text, number, string, number, Text, Text, Text, Text, ...Tail];
type Tail = [Text, number | null, number | null, Text, Text, string, string];

/**
 * SQLite keeps no checksums: a bit that changes in a text shows nowhere else. Over the UTF-8 of the values, as
 * SQLite gives them back, whatever they were as strings here.
 */
function sumOf(values: readonly unknown[]): string {
  return hash('sha1', values.map((value) => (value === null ? '\u0001' : String(value))).join('\0'));
}
