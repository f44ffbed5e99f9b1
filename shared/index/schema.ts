import { join } from 'node:path';

/** Of the tables below; kept in the file as `PRAGMA user_version`. Another number is another program's index. */
export { INDEX_VERSION } from '../version.ts';

/** Larger than SQLite's own: a row of half a kB leaves little of a page empty. */
export const PAGE_BYTES = 8192;

export function indexFileOf(stateDir: string): string {
  return join(stateDir, 'index.sqlite3');
}

/** What SQLite keeps beside its file: the write-ahead log and the table of contents of that log. */
export const SIDECAR_SUFFIXES = ['-wal', '-shm'] as const;

/** One run as the index keeps it; everything in it can be read anew from the run's directory. */
export interface IndexRow {
  readonly runId: string;
  /** Of the record, taken before it was read; null: there was none to take. */
  readonly signature: string | null;
  /** Its end and its notice are settled: nobody who honours the latch changes it any more. */
  readonly settled: boolean;
  readonly recordState: string;
  readonly terminal: boolean;
  readonly status: string | null;
  readonly outcome: string | null;
  readonly kind: string | null;
  readonly label: string | null;
  readonly reasonCode: string | null;
  /** Whole milliseconds since the epoch. */
  readonly submittedMs: number | null;
  readonly finishedMs: number | null;
  readonly notifyState: string | null;
  readonly retryState: string | null;
  readonly tags: readonly string[];
  /** The values of the row of the list, in the order of its keys, as a JSON list. */
  readonly row: string;
}

/**
 * As SQLite repeats them in `sqlite_schema`: a file whose definitions read otherwise is not this index.
 *
 * Rows lie in the order they came, whatever that is, so their pages are full; a table in the order of run ids that
 * is filled from the newest on leaves half of each page empty. A list goes newest first, so every index ends in the
 * run id. They serve filters that may name few runs of many; a filter most runs pass needs none, the walk finds its
 * page at once. `terminal` has none: what has not ended is not settled. Reasons and retries are few, as are the
 * unsettled: those indices hold them alone.
 */
export const DEFINITIONS: readonly string[] = [
  `CREATE TABLE runs (
    run_id TEXT PRIMARY KEY NOT NULL,
    signature TEXT,
    settled INTEGER NOT NULL,
    record_state TEXT NOT NULL,
    terminal INTEGER NOT NULL,
    status TEXT,
    outcome TEXT,
    kind TEXT,
    label TEXT,
    reason_code TEXT,
    submitted_ms INTEGER,
    finished_ms INTEGER,
    notify_state TEXT,
    retry_state TEXT,
    tags TEXT NOT NULL,
    row TEXT NOT NULL,
    sum TEXT NOT NULL
  )`,
  `CREATE TABLE usage (
    run_id TEXT PRIMARY KEY NOT NULL,
    sampled_ms INTEGER NOT NULL,
    cpu_percent REAL,
    rss_bytes INTEGER,
    peak_rss_bytes INTEGER,
    processes INTEGER NOT NULL
  ) WITHOUT ROWID`,
  'CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID',
  'CREATE INDEX runs_status ON runs (status, run_id)',
  'CREATE INDEX runs_outcome ON runs (outcome, run_id)',
  'CREATE INDEX runs_kind ON runs (kind, run_id)',
  'CREATE INDEX runs_reason ON runs (reason_code, run_id) WHERE reason_code IS NOT NULL',
  'CREATE INDEX runs_retry ON runs (retry_state, run_id) WHERE retry_state IS NOT NULL',
  'CREATE INDEX runs_unsettled ON runs (run_id) WHERE settled = 0',
];

/** `meta`: the signature of the jobs directory, taken before it was last listed and all of it put here. */
export const RECONCILED_ROOT = 'reconciled_root';
/** `meta`: how many names it had then. As many rows are those names; any other number is not. */
export const RECONCILED_NAMES = 'reconciled_names';
