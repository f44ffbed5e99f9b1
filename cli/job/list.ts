import type { Row } from '../../shared/contract/row.ts';
import type { Engine } from '../../shared/engine.ts';
import { readUsage } from '../../shared/index/read-usage.ts';
import type { Available } from '../../shared/output/available.ts';
import { type Usage, usageOf } from '../../shared/output/usage.ts';
import { printable } from '../../shared/printable.ts';
import { listRuns } from '../../shared/run/list.ts';
import { limitOf } from '../limit.ts';
import { age } from '../render/age.ts';
import { marksOf } from '../render/marks.ts';
import { paint, type Screen } from '../render/screen.ts';
import { table } from '../render/table.ts';
import { usageCell } from '../render/usage.ts';
import type { Answer, Call } from '../verb.ts';

export interface ListOptions {
  readonly limit?: string;
  readonly status?: string;
  readonly usage?: boolean;
  readonly degraded?: boolean;
}

/** `lion job list` (ADR-0106 D6): newest first, bounded, says when there is more. */
export async function list(call: Call, options: ListOptions): Promise<Answer> {
  const limit = limitOf(options.limit);
  const engine = await call.open();
  const { rows, truncated } = await listRuns(engine, {
    limit,
    status: options.status ?? null,
    degraded: options.degraded ?? false,
  });
  const usages = options.usage ? await usagesOf(engine, rows) : null;
  const jobs = usages === null ? rows : rows.map((row, at) => ({ ...row, usage: { ...usages[at] } }));
  return {
    data: { jobs, truncated, limit },
    human: (screen) =>
      options.degraded && rows.length === 0
        ? 'No degraded runs.\n'
        : render(screen, rows, usages, truncated, limit, engine.home.jobsDir),
  };
}

async function usagesOf(engine: Engine, rows: readonly Row[]): Promise<Available<Usage>[]> {
  const runs = rows.map((row) => ({ runId: String(row.run_id), terminal: row.terminal === true }));
  const read = await readUsage(
    engine.home.stateDir,
    runs.map(({ runId }) => runId),
  );
  return runs.map((run) => usageOf(read, run, engine.now()));
}

function render(
  screen: Screen,
  rows: readonly Row[],
  usages: readonly Available<Usage>[] | null,
  truncated: boolean,
  limit: number,
  jobsDir: string,
): string {
  if (rows.length === 0) return `No runs in ${printable(jobsDir)}.\n`;
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

function colourOf(row: Row | undefined): 'green' | 'red' | 'yellow' | 'dim' {
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
