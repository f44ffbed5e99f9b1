/**
 * One open index: a cache of what the runs' records said, and never an authority.
 *
 * **An older observation never overwrites a newer one.** Observations are made side by side and may come here
 * late, so a row brings the signature its record had before it was read, and is written only if the record still
 * has it, looked at inside the transaction that writes. Transactions are immediate, so they are serial, over all
 * processes; the file on disk only moves on. Of two observations of one run the later written was thus true of
 * the later file, whichever was made or sent first, and no clock is asked. A row whose record has moved on is
 * not written; its id is handed back, to be looked at again. That two states of a file share a signature is
 * the racy case: its inode reused and its size kept within one tick of the file system's clock. A row is
 * therefore settled only once its record has been left alone for longer than that.
 *
 * Readers never write, and a write never begins as a read: SQLite refuses that one at once when another
 * connection wrote in between, whatever the busy timeout.
 */
import { rmSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import { type Column, toColumns } from '../../shared/index/columns.ts';
import { faultsOnly, IndexFault } from '../../shared/index/fault.ts';
import { sidecarsOf } from '../../shared/index/file-form.ts';
import type { UsageSample } from '../../shared/index/read-usage.ts';
import { type IndexRow, RECONCILED_NAMES, RECONCILED_ROOT } from '../../shared/index/schema.ts';
import { type BlockShape, Blocks } from './blocks.ts';
import { type Identity, identityOf } from './index-files.ts';

/** What the index has of a run: is its record still as it was then? */
export interface KnownRun {
  readonly runId: string;
  readonly signature: string | null;
  readonly settled: boolean;
}

/** Every method throws `IndexFault` and nothing else. */
export class RunIndex {
  readonly #database: Database;
  readonly #file: string;
  /** Of the file we hold. */
  readonly #held: Identity;
  readonly #heldSidecars: readonly Identity[];
  readonly #statements: Statements;
  readonly #blocks: Blocks;

  /** @param held identity of the file before it was opened: one put in its place since shows as replaced. */
  constructor(database: Database, file: string, held: Identity) {
    this.#database = database;
    this.#file = file;
    this.#held = held;
    this.#heldSidecars = sidecarsOf(file).map(identityOf);
    this.#statements = faultsOnly(() => prepare(database));
    this.#blocks = faultsOnly(() => new Blocks(database));
  }

  /**
   * Writes, in one transaction, the rows whose records are still as they were read.
   * @returns ids of the others: their records have changed since.
   */
  put(rows: readonly IndexRow[], signatureOf: (runId: string) => string | null): string[] {
    return this.#write(() => {
      const changed: string[] = [];
      for (const row of rows) {
        if (signatureOf(row.runId) !== row.signature) changed.push(row.runId);
        else this.#put(toColumns(row));
      }
      return changed;
    });
  }

  drop(runIds: readonly string[]): void {
    this.#write(() => {
      for (const runId of runIds) {
        this.#blocks.remove(runId);
        this.#statements.drop.run(runId);
        this.#statements.dropUsage.run(runId);
      }
    });
  }

  putUsage(samples: readonly UsageSample[]): void {
    this.#write(() => {
      for (const sample of samples) this.#statements.putUsage.run(sample);
    });
  }

  /**
   * In the byte order of ids; `afterRunId` null: from the first. A page at a time holds nobody up. A damaged
   * table can lead back to where a walk has been: that is a fault here, not a walk without end.
   */
  known(afterRunId: string | null, limit: number): KnownRun[] {
    const rows = faultsOnly(() => this.#statements.known.all(afterRunId ?? '', limit));
    if (!isAscending([afterRunId ?? '', ...rows.map((row) => row.run_id)])) {
      throw new IndexFault('corrupt', new Error('its rows are out of order'));
    }
    return rows.map(({ run_id, signature, settled }) => ({
      runId: run_id,
      signature,
      settled: settled === 1,
    }));
  }

  count(): number {
    return faultsOnly(() => this.#statements.count.get()?.runs ?? 0);
  }

  /** Null: what is here may lack runs that the jobs directory has. `names`: how many it has. */
  setReconciledRoot(signature: string | null, names = 0): void {
    this.#write(() => {
      if (signature === null) {
        for (const key of [RECONCILED_ROOT, RECONCILED_NAMES]) this.#statements.dropMeta.run(key);
        return;
      }
      this.#statements.putMeta.run(RECONCILED_ROOT, signature);
      this.#statements.putMeta.run(RECONCILED_NAMES, String(names));
    });
  }

  reconciledRoot(): string | null {
    return faultsOnly(() => this.#statements.meta.get(RECONCILED_ROOT)?.value ?? null);
  }

  /** Brings the log into the file and empties it, as far as readers let it. */
  checkpoint(): void {
    faultsOnly(() => this.#database.pragma('wal_checkpoint(TRUNCATE)'));
  }

  /**
   * Puts together the oldest rows that have lain still and are in no block.
   * @returns false: there are none.
   */
  pack(shape: BlockShape): boolean {
    return this.#write(() => this.#blocks.pack(shape));
  }

  /**
   * Walks every page of the table and of its index and compares how many rows they have: 30 to 40 ms for 100,000
   * rows, where SQLite's own quick check takes 90 to 150 and holds the event loop up all that time.
   * @throws {IndexFault} `corrupt` where they disagree or a page is no page.
   */
  verify(): void {
    const counts = faultsOnly(() => {
      // What is on disk is asked for, not what was kept of it.
      this.#database.pragma('shrink_memory');
      return this.#statements.walks.map((walk) => walk.get()?.runs);
    });
    if (new Set(counts).size !== 1) {
      throw new IndexFault('corrupt', new Error('a table and its index disagree'));
    }
  }

  /**
   * Holds one block against its checksums.
   * @param afterLast last id of the block before; empty: the first block.
   * @returns the last id of the block; null: there is none any more.
   * @throws {IndexFault} `corrupt` where it is not as it was written.
   */
  verifyBlock(afterLast: string): string | null {
    return faultsOnly(() => this.#blocks.verify(afterLast));
  }

  /** Is what lies at the path now, sidecars included, something else than what we hold open? */
  isReplaced(): boolean {
    return faultsOnly(() => {
      if (identityOf(this.#file) !== this.#held) return true;
      return sidecarsOf(this.#file).some((path, at) => identityOf(path) !== this.#heldSidecars[at]);
    });
  }

  /** A log of ours beside a file that is not ours goes with us: it would be played into that file. */
  close(): void {
    faultsOnly(() => {
      const isOurs = identityOf(this.#file) === this.#held;
      this.#database.close();
      if (isOurs) return;
      for (const [at, path] of sidecarsOf(this.#file).entries()) {
        if (identityOf(path) === this.#heldSidecars[at]) rmSync(path, { force: true });
      }
    });
  }

  /** A row that says what it said leaves its block alone. */
  #put(columns: Column[]): void {
    const [runId] = columns;
    if (typeof runId !== 'string' || this.#statements.sum.get(runId) === columns.at(-1)) return;
    this.#blocks.remove(runId);
    this.#statements.put.run(...columns);
  }

  #write<T>(work: () => T): T {
    return faultsOnly(() => this.#database.transaction(work).immediate());
  }
}

/** Each goes through all rows; `count(*)` would take the smaller of the two for both. */
const WALKS = ['NOT INDEXED', 'INDEXED BY sqlite_autoindex_runs_1'];

/** One for each column. */
const PLACES = Array(16).fill('?').join(', ');

type Statements = ReturnType<typeof prepare>;
type KnownColumns = { run_id: string; signature: string | null; settled: number };
type Count = { runs: number };

function prepare(database: Database) {
  return {
    put: database.prepare<Column[]>(`INSERT OR REPLACE INTO runs VALUES (${PLACES})`),
    sum: database.prepare<[string], string>('SELECT sum FROM runs WHERE run_id = ?').pluck(),
    drop: database.prepare<[string]>('DELETE FROM runs WHERE run_id = ?'),
    putUsage: database.prepare<[UsageSample]>(`INSERT OR REPLACE INTO usage VALUES (
      @runId, @sampledMs, @cpuPercent, @rssBytes, @peakRssBytes, @processes)`),
    dropUsage: database.prepare<[string]>('DELETE FROM usage WHERE run_id = ?'),
    known: database.prepare<[string, number], KnownColumns>(
      'SELECT run_id, signature, settled FROM runs WHERE run_id > ? ORDER BY run_id LIMIT ?',
    ),
    count: database.prepare<[], Count>('SELECT count(*) AS runs FROM runs'),
    meta: database.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?'),
    putMeta: database.prepare<[string, string]>('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
    dropMeta: database.prepare<[string]>('DELETE FROM meta WHERE key = ?'),
    walks: WALKS.map(
      (walk): Statement<[], Count> => database.prepare(`SELECT count(run_id) AS runs FROM runs ${walk}`),
    ),
  };
}

function isAscending(runIds: readonly string[]): boolean {
  const bytes = runIds.map((runId) => Buffer.from(runId));
  return bytes.every((one, at) => at === 0 || Buffer.compare(bytes[at - 1] ?? one, one) < 0);
}
