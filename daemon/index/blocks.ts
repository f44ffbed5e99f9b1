import type { Database } from 'better-sqlite3';
import { readDigest, readFacts, toBlock } from '../../shared/index/block.ts';
import { fromColumns } from '../../shared/index/columns.ts';
import { IndexFault } from '../../shared/index/fault.ts';
import type { IndexRow } from '../../shared/index/schema.ts';

/** What is worth putting together. */
export interface BlockShape {
  readonly runs: number;
  /** More unsettled runs than this will change before long: their rows are left as they are. */
  readonly unsettled: number;
}

export const BLOCK_SHAPE: BlockShape = { runs: 1024, unsettled: 256 };

/** Past so many times as many as full ones would be, all are made anew. */
const MOST_TIMES_AS_MANY = 2;
const FEW_BLOCKS = 16;

/**
 * The blocks of an open index (`shared/index/block.ts`). The ids between two blocks are a gap; a row in a gap is read
 * by itself. To be called within the transaction that changes the rows.
 */
export class Blocks {
  readonly #statements: Statements;

  constructor(database: Database) {
    this.#statements = prepare(database);
  }

  /** The block of this run, if it is in one: its row is about to change, to come or to go. */
  remove(runId: string): void {
    this.#statements.remove.run({ runId });
  }

  /**
   * Makes one block, of the oldest rows that can be one. The newest rows wait until there is a full block of them;
   * an older gap, from which runs were pruned or in which one has changed, is closed whatever its size.
   */
  pack(shape: BlockShape): boolean {
    this.#startOverIfScattered(shape);
    for (const { after, before, runs } of this.#statements.gaps.all()) {
      let left = runs;
      for (let from = after; left > 0 && (before !== null || left >= shape.runs); left -= shape.runs) {
        const rows = this.#rows(from, before, shape.runs);
        const unsettled = rows.filter((row) => !row.settled).length;
        if (rows.length === 0) break;
        if (unsettled <= shape.unsettled) {
          this.#statements.put.run(...toBlock(rows.toReversed()));
          return true;
        }
        from = rows.at(-1)?.runId ?? from;
      }
    }
    return false;
  }

  /** @returns the last id of the block behind this one; null: there is none. */
  verify(afterLast: string): string | null {
    const block = this.#statements.next.get(afterLast);
    if (block === undefined) return null;
    const digest = readDigest(block.digest, block.digest_sum);
    const facts = readFacts(block.digest, block.facts, block.facts_sum);
    const isSound =
      facts !== null &&
      digest?.last === block.last &&
      digest.first === block.first &&
      digest.runs === block.runs;
    if (!isSound) throw new IndexFault('corrupt', new Error('a block is not as it was written'));
    return block.last;
  }

  #startOverIfScattered({ runs }: BlockShape): void {
    const { blocks, packed } = this.#statements.totals.get() ?? { blocks: 0, packed: 0 };
    if (blocks > FEW_BLOCKS + (MOST_TIMES_AS_MANY * packed) / runs) this.#statements.removeAll.run();
  }

  #rows(after: string, before: string | null, limit: number): IndexRow[] {
    return this.#statements.rows
      .all({ after, before, limit })
      .map((columns) => fromColumns(columns) ?? refuse());
  }
}

function refuse(): never {
  throw new IndexFault('corrupt', new Error('a row is not as it was written'));
}

interface Gap {
  /** The last id of the block before it; empty: there is none. */
  readonly after: string;
  /** The first id of the next block; null: there is none. */
  readonly before: string | null;
  readonly runs: number;
}

interface Block {
  readonly last: string;
  readonly first: string;
  readonly runs: number;
  readonly digest: string;
  readonly digest_sum: string;
  readonly facts: string;
  readonly facts_sum: string;
}

interface Between {
  readonly after: string;
  readonly before: string | null;
  readonly limit: number;
}

type Statements = ReturnType<typeof prepare>;

function prepare(database: Database) {
  return {
    remove: database.prepare<{ runId: string }>(`
      DELETE FROM blocks
      WHERE last = (SELECT last FROM blocks WHERE last >= @runId ORDER BY last LIMIT 1) AND first <= @runId`),
    removeAll: database.prepare('DELETE FROM blocks'),
    totals: database.prepare<[], { blocks: number; packed: number }>(
      'SELECT count(*) AS blocks, total(runs) AS packed FROM blocks',
    ),
    gaps: database.prepare<[], Gap>(`
      SELECT * FROM (
        SELECT after, before, (
          SELECT count(*) FROM runs WHERE run_id > after AND run_id < coalesce(before, x'')
        ) AS runs
        FROM (
          SELECT last AS after, lead(first) OVER (ORDER BY last) AS before FROM blocks
          UNION ALL SELECT '', (SELECT first FROM blocks ORDER BY last LIMIT 1)
        )
      ) WHERE runs > 0 ORDER BY after`),
    rows: database
      .prepare<Between, unknown[]>(
        "SELECT * FROM runs WHERE run_id > @after AND run_id < coalesce(@before, x'') ORDER BY run_id LIMIT @limit",
      )
      .raw(),
    put: database.prepare<unknown[]>('INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)'),
    next: database.prepare<[string], Block>('SELECT * FROM blocks WHERE last > ? ORDER BY last LIMIT 1'),
  };
}
