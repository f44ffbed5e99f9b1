import { type Expected, isExpectedObject } from '../support/expected.ts';
import type { Json, JsonObject } from '../support/json-tree.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import type { Answer } from './call.ts';

/** The recorded rows against `data.jobs`, in order. */
export function compareRows(answer: Answer, recorded: readonly Expected[]): string[] {
  const rows = rowsOf(answer);
  if (!rows) return [...answer.problems, `no jobs: ${shown(answer.error)} ${shown(answer.data)}`];
  const problems = [...answer.problems];
  if (rows.length !== recorded.length) problems.push(`${recorded.length} rows wanted, ${rows.length} found`);
  for (const [index, row] of recorded.entries())
    problems.push(...compareRow(rows[index], row, `jobs/${index}`));
  return problems;
}

/** The recorded row of this run, or null for none. */
export function compareRowOf(answer: Answer, runId: string, recorded: Expected): string[] {
  const rows = rowsOf(answer);
  if (!rows) return [...answer.problems, `no jobs: ${shown(answer.error)} ${shown(answer.data)}`];
  const row = rows.find((one) => one instanceof Map && one.get('run_id') === runId);
  if (recorded !== null) return [...answer.problems, ...compareRow(row, recorded, 'row')];
  return row === undefined ? answer.problems : [...answer.problems, `listed, wanted no row: ${shown(row)}`];
}

/** Other keys may stand beside the recorded ones at the top of a row, nowhere else. */
function compareRow(row: Json | undefined, recorded: Expected, at: string): string[] {
  if (!(row instanceof Map)) return [`/${at}: no row`];
  if (!isExpectedObject(recorded)) return [`/${at}: a recorded row that is no object`];
  return mismatches(row as JsonObject, recorded, { mayAdd: (path) => path.length === 1 }, [at]);
}

function rowsOf(answer: Answer): Json[] | null {
  const jobs = answer.data.get('jobs');
  return answer.ok && Array.isArray(jobs) ? jobs : null;
}
