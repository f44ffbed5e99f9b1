import { LionError } from '../../shared/contract/errors.ts';
import type { Row } from '../../shared/contract/row.ts';
import type { Engine } from '../../shared/engine.ts';
import { readUsage } from '../../shared/index/read-usage.ts';
import type { Available } from '../../shared/output/available.ts';
import { type Usage, usageOf } from '../../shared/output/usage.ts';
import { printable } from '../../shared/printable.ts';
import { countRuns, listRuns } from '../../shared/run/list.ts';
import { readCursor, writeCursor } from '../../shared/run/list-cursor.ts';
import { isUnfiltered, type ListFilter } from '../../shared/run/list-filter.ts';
import { limitOf } from '../limit.ts';
import type { Answer, Call } from '../verb.ts';
import { type FilterOptions, filterOf, wordsOf } from './list-filter.ts';

export interface ListOptions extends FilterOptions {
  readonly limit?: string;
  readonly cursor?: string;
  readonly count?: boolean;
  readonly usage?: boolean;
  /** `--no-index` */
  readonly index: boolean;
}

/** `lion job list` (ADR-0106 D6): newest first, bounded, says when there is more. */
export async function list(call: Call, options: ListOptions): Promise<Answer> {
  return options.count ? countAll(call, options) : listPage(call, options);
}

async function listPage(call: Call, options: ListOptions): Promise<Answer> {
  const limit = limitOf(options.limit);
  const engine = await call.open();
  const { filter, afterRunId } = placeOf(engine, options);
  const request = { limit, filter, afterRunId, useIndex: options.index };
  call.progress('looking through the runs');
  const { rows, truncated, index } = await listRuns(engine, request);
  const last = rows.at(-1);
  const cursor =
    truncated && last !== undefined
      ? writeCursor(engine, wordsOf(options), { afterRunId: String(last.run_id), filter })
      : null;
  const usages = options.usage ? await usagesOf(engine, rows) : null;
  const jobs = usages === null ? rows : rows.map((row, at) => ({ ...row, usage: { ...usages[at] } }));
  return {
    data: { jobs, truncated, limit, next_cursor: cursor, index: { ...index } },
    human: async (screen) =>
      rows.length === 0
        ? none(options, filter, afterRunId, engine.home.jobsDir)
        : (await import('../render/run-table.ts')).runTable(screen, rows, usages, truncated, limit),
  };
}

function placeOf(engine: Engine, options: ListOptions): { filter: ListFilter; afterRunId: string | null } {
  const filter = filterOf(options, engine.now());
  if (options.cursor === undefined) return { filter, afterRunId: null };
  return readCursor(engine, wordsOf(options), filter, options.cursor);
}

async function countAll(call: Call, options: ListOptions): Promise<Answer> {
  if (options.limit !== undefined || options.cursor !== undefined || options.usage) {
    throw new LionError('invalid_input', '--count goes without --limit, --cursor and --usage');
  }
  const engine = await call.open();
  const filter = filterOf(options, engine.now());
  call.progress('counting the runs');
  const { counts, index } = await countRuns(engine, { filter, useIndex: options.index });
  return {
    data: { counts: { ...counts }, index: { ...index } },
    human: () =>
      Object.entries(counts)
        .map(([word, count]) => `${word.padEnd(14)} ${count}\n`)
        .join(''),
  };
}

function none(options: ListOptions, filter: ListFilter, afterRunId: string | null, jobsDir: string): string {
  if (options.degraded) return 'No degraded runs.\n';
  if (afterRunId !== null) return 'No more runs.\n';
  return isUnfiltered(filter) ? `No runs in ${printable(jobsDir)}.\n` : 'No such runs.\n';
}

async function usagesOf(engine: Engine, rows: readonly Row[]): Promise<Available<Usage>[]> {
  const runs = rows.map((row) => ({ runId: String(row.run_id), terminal: row.terminal === true }));
  const read = await readUsage(
    engine.home.stateDir,
    runs.map(({ runId }) => runId),
  );
  return runs.map((run) => usageOf(read, run, engine.now()));
}
