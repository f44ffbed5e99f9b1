/**
 * Reading the index: when a row may stand in for the record it was made of.
 *
 * The index is a cache that may be missing, old, damaged or another program's, and an answer must be the same
 * with it and without. The rules, and why each holds:
 *
 * 1. **Names.** The supervisor takes the signature of the jobs directory, lists it, puts a row for every name, and
 *    stores that signature with the number of names. It stores none that was younger than 2 s when it was taken, or
 *    from the future: a name that came within the clock's grain would not show in it. While the directory has that
 *    signature, and the index that number of rows, the names are those of the index; else they are listed, and rows
 *    only looked up. With another device or inode, or with no signature stored, the index is not used: it may be of
 *    another store.
 * 2. **Settled rows.** An end is latched, so a record that has ended, whose notice is settled, and which nobody
 *    wrote to for 15 minutes is not changed any more by writers that honour the latch. Its row stands for it. A run
 *    whose row is not settled, or which has none, is looked at as if there were no index.
 * 3. **Our own late writers** (a late hook, a notice sent by hand, a kill) leave a marker in `touched/` before they
 *    change a record that is not young, and the supervisor removes it when it has looked at the run after it saw
 *    the marker, and the new row is in the file. The markers are listed here before the first row is read, so
 *    whoever finds no marker finds the new row. A marked run counts as not settled. If a marker cannot be made, the
 *    writer removes the index.
 * 4. **What is shown is looked at.** A row that is to be returned is compared by one stat with its `job.json`
 *    (device, inode, size, both times), and by one read with the word of the run's manifest; one that differs is
 *    read anew. So a page never shows what a foreign program has changed since.
 * 5. **Blocks.** A filter would walk every row. Rows that have lain still are therefore put together, a thousand to a
 *    block (`block.ts`): a block in which nothing can match is passed over but for its unsettled runs. A block goes in
 *    the very transaction that writes, or takes away, a row between its ends, so it never says what its rows do not;
 *    one with a marked run is not passed over.
 * 6. **Damage.** SQLite has no checksums, so each row carries one, and each block one for each of its two texts, and
 *    both must come in order. Anything else than that, wherever it is met, ends the use of the index: the call scans.
 *    What a filter passes over is held to this too, and rows that are missing are missed by rule 1, so damage hides no
 *    match; that is why there are blocks, and no index of SQLite narrows a filter.
 *
 * **The one limit**: a program that honours neither latch nor marker and changes an old, ended record is seen by
 * rule 4 wherever its run is shown. Where a filter or `--count` passes over the old row, it is seen after the
 * supervisor's next look at all records (10 minutes; at start).
 */
import type { Database, Statement } from 'better-sqlite3';
import type { Engine } from '../engine.ts';
import { compareBytes } from '../store/names.ts';
import { signatureOf } from '../store/signature.ts';
import { type BlockRun, type Digest, readDigest, readFacts, type Sieve } from './block.ts';
import { fromColumns } from './columns.ts';
import { definitionsOf } from './definitions.ts';
import { faultsOnly, IndexFault, type IndexFaultCode } from './fault.ts';
import { areFiles, isWhole, statOf } from './file-form.ts';
import { loadSqlite } from './load-sqlite.ts';
import {
  DEFINITIONS,
  INDEX_VERSION,
  type IndexRow,
  indexFileOf,
  RECONCILED_NAMES,
  RECONCILED_ROOT,
} from './schema.ts';
import { listTouched } from './touched.ts';

export type WhyUnused =
  | 'not_asked'
  | 'switched_off'
  | 'no_index'
  | 'no_library'
  | 'other_version'
  | 'not_complete'
  | 'other_root'
  | IndexFaultCode;

/** Readers of a WAL wait for nobody but a recovery. */
const BUSY_TIMEOUT_MS = 100;
/** Rows read at a time: as many as most pages have, then as many as take a few milliseconds. */
const FIRST_ROWS = 64;
const MORE_ROWS = 1_000;
/** In SQLite's order any text comes before any blob. */
const PAST_ALL = Buffer.alloc(0);

/** Opens the index for reading, or says why a listing has to do without it. Never throws. */
export async function openIndexReader(engine: Engine): Promise<IndexReader | WhyUnused> {
  if (!engine.config.index) return 'switched_off';
  const { stateDir } = engine.home;
  const file = indexFileOf(stateDir);
  try {
    if (statOf(file) === null) return 'no_index';
    if (!areFiles(file) || !isWhole(file)) return 'corrupt';
    const sqlite = await loadSqlite();
    if (typeof sqlite === 'string') return 'no_library';
    const touched = new Set(listTouched(stateDir).map(({ runId }) => runId));
    const database = new sqlite(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    const opened = readerOf(database, engine, touched);
    if (typeof opened === 'string') database.close();
    return opened;
  } catch (error) {
    return IndexFault.from(error).code;
  }
}

function readerOf(database: Database, engine: Engine, touched: ReadonlySet<string>): IndexReader | WhyUnused {
  try {
    // In one transaction: what was stored of the root is of the rows that are counted.
    return database.transaction((): IndexReader | WhyUnused => {
      if (database.pragma('user_version', { simple: true }) !== INDEX_VERSION) return 'other_version';
      if (definitionsOf(database).join(';') !== DEFINITIONS.join(';')) return 'other_version';
      const stored = metaOf(database, RECONCILED_ROOT);
      if (stored === null) return 'not_complete';
      const root = signatureOf(engine.home.jobsDir);
      if (root === null || identityIn(root) !== identityIn(stored)) return 'other_root';
      const gaps = database.prepare<[], Gap>(GAPS).all();
      const names = gaps.reduce((sum, { runs }) => sum + runs, totalOf(database));
      const hasAllNames = root === stored && metaOf(database, RECONCILED_NAMES) === String(names);
      return new IndexReader(database, hasAllNames, touched, gaps);
    })();
  } catch (error) {
    return IndexFault.from(error).code;
  }
}

function metaOf(database: Database, key: string): string | null {
  const value = database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(key);
  return typeof value === 'string' ? value : null;
}

/** What the blocks say they have. */
function totalOf(database: Database): number {
  return Number(database.prepare('SELECT total(runs) FROM blocks').pluck().get());
}

/** Between two blocks, or before the first or behind the last, and how many rows are there. */
interface Gap {
  /** The last id of the one block; empty: there is none. */
  readonly after: string;
  /** The first id of the other; null: there is none. */
  readonly before: string | null;
  readonly runs: number;
}

/** Counted along the very index that rows are read by. */
const GAPS = `
  SELECT after, before, (
    SELECT count(*) FROM runs INDEXED BY sqlite_autoindex_runs_1
    WHERE run_id > after AND run_id < coalesce(before, x'')
  ) AS runs
  FROM (
    SELECT last AS after, lead(first) OVER (ORDER BY last) AS before FROM blocks
    UNION ALL SELECT '', (SELECT first FROM blocks ORDER BY last LIMIT 1)
  )`;

/** Device and inode. */
function identityIn(signature: string): string {
  return signature.split('.', 2).join('.');
}

export class IndexReader {
  readonly #database: Database;
  readonly #touched: ReadonlySet<string>;
  /** When it was opened: from the end of the one block to the start of the next. */
  readonly #emptyGaps: ReadonlyMap<string, string | null>;
  readonly #statements = new Map<string, Statement<unknown[], unknown>>();

  constructor(
    database: Database,
    /** The names in the jobs directory are those of the rows. */
    readonly hasAllNames: boolean,
    touched: ReadonlySet<string>,
    gaps: readonly Gap[],
  ) {
    this.#database = database;
    this.#touched = touched;
    this.#emptyGaps = new Map(gaps.filter(({ runs }) => runs === 0).map((gap) => [gap.after, gap.before]));
  }

  /**
   * Newest first, below this id; null: all. A run that was touched is not settled.
   * @param sieve asked about each whole block without a touched run; what it holds back does not come, unless its
   *   row was read by itself.
   * @throws {IndexFault} for whatever keeps it from being read or believed: what came before is void too.
   */
  *runsBelow(runId: string | null, sieve: Sieve): Generator<BlockRun> {
    let before = runId;
    for (let block = this.#blockAround(runId); ; block = this.#blockBelow(before)) {
      const after = block?.digest.last ?? '';
      const isEmpty = before !== null && this.#emptyGaps.get(after) === before;
      if (!isEmpty && isBelow(after, before)) yield* this.#rowsBetween(after, before);
      if (block === null) return;
      yield* this.#runsOf(block, before, sieve);
      before = block.digest.first;
    }
  }

  /** Null: there is none that stands for the record. */
  settledRow(runId: string): IndexRow | null {
    if (this.#touched.has(runId)) return null;
    const [row] = faultsOnly(() => this.#rows('run_id = ?', [runId], 1));
    return row?.settled ? row : null;
  }

  close(): void {
    faultsOnly(() => this.#database.close());
  }

  *#runsOf(block: OpenBlock, before: string | null, sieve: Sieve): Generator<BlockRun> {
    const { digest } = block;
    const isTouched = this.#hasTouched(digest);
    if (isBelow(digest.last, before) && !isTouched && !sieve.admits(digest)) {
      for (const runId of digest.unsettled) yield { runId, settled: null };
      return;
    }
    const runs = this.#factsOf(block, isTouched ? {} : sieve.values);
    if (runs === null)
      yield* this.#rowsBetween(digest.first, lower(before, past(digest.last)), 'with the first');
    else for (const run of runs) if (isBelow(run.runId, before)) yield this.#untouched(run);
  }

  *#rowsBetween(
    after: string,
    before: string | null,
    first: 'with the first' | 'without it' = 'without it',
  ): Generator<BlockRun> {
    const bound = first === 'with the first' ? 'run_id >= ?' : 'run_id > ?';
    let last = before;
    for (let limit = FIRST_ROWS; ; limit = MORE_ROWS) {
      const page = faultsOnly(() => this.#rows(`${bound} AND run_id < ?`, [after, last ?? PAST_ALL], limit));
      for (const row of page) {
        if (!isBelow(row.runId, last)) throw damaged('rows are out of order');
        last = row.runId;
        yield this.#untouched({ runId: row.runId, settled: row.settled ? row : null });
      }
      if (page.length < limit) return;
    }
  }

  #prepared<Row>(sql: string): Statement<unknown[], Row> {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known as Statement<unknown[], Row>;
    const statement = this.#database.prepare<unknown[], Row>(sql).raw();
    this.#statements.set(sql, statement);
    return statement;
  }

  #untouched(run: BlockRun): BlockRun {
    return this.#touched.has(run.runId) ? { runId: run.runId, settled: null } : run;
  }

  #hasTouched({ first, last }: Digest): boolean {
    for (const runId of this.#touched) {
      if (compareBytes(first, runId) <= 0 && compareBytes(runId, last) <= 0) return true;
    }
    return false;
  }

  #rows(condition: string, values: readonly unknown[], limit: number): IndexRow[] {
    const sql = `SELECT * FROM runs INDEXED BY sqlite_autoindex_runs_1 WHERE ${condition} ORDER BY run_id DESC LIMIT ${limit}`;
    const rows = this.#database
      .prepare<unknown[], unknown[]>(sql)
      .raw()
      .all(...values);
    return rows.map((columns) => fromColumns(columns) ?? refuse('a row is not as it was written'));
  }

  /** That has ids both below this one and not. */
  #blockAround(runId: string | null): OpenBlock | null {
    if (runId === null) return this.#blockBelow(null);
    const around = this.#block('last >= ? ORDER BY last', runId);
    return around !== null && isBelow(around.digest.first, runId) ? around : this.#blockBelow(runId);
  }

  #blockBelow(runId: string | null): OpenBlock | null {
    const block = this.#block('last < ? ORDER BY last DESC', runId ?? PAST_ALL);
    if (block !== null && !isBelow(block.digest.last, runId)) throw damaged('blocks are out of order');
    return block;
  }

  #block(condition: string, value: string | Buffer): OpenBlock | null {
    const sql = `SELECT digest, digest_sum FROM blocks WHERE ${condition} LIMIT 1`;
    const [text, sum] = faultsOnly(() => this.#prepared<[string, string]>(sql).get(value) ?? []);
    if (text === undefined || sum === undefined) return null;
    return { text, sum, digest: readDigest(text, sum) ?? refuse('a block is not as it was written') };
  }

  /** Null: it has gone since, and its rows say more. */
  #factsOf({ text, sum, digest }: OpenBlock, values: Sieve['values']): BlockRun[] | null {
    const sql = 'SELECT facts, facts_sum FROM blocks WHERE last = ? AND digest_sum = ?';
    const [facts, factsSum] = faultsOnly(
      () => this.#prepared<[string, string]>(sql).get(digest.last, sum) ?? [],
    );
    if (facts === undefined || factsSum === undefined) return null;
    return readFacts(text, facts, factsSum, values) ?? refuse('a block is not as it was written');
  }
}

interface OpenBlock {
  readonly text: string;
  readonly sum: string;
  readonly digest: Digest;
}

/** In the order of the list; null: above all. */
function isBelow(runId: string, before: string | null): boolean {
  return before === null || compareBytes(runId, before) < 0;
}

function lower(a: string | null, b: string): string {
  return a === null || compareBytes(b, a) < 0 ? b : a;
}

/** The first text behind this one. */
function past(runId: string): string {
  return `${runId}\0`;
}

function refuse(what: string): never {
  throw damaged(what);
}

function damaged(what: string): IndexFault {
  return new IndexFault('corrupt', new Error(what));
}
