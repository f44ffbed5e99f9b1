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
 * is filled from the newest on leaves half of each page empty. Filters go by the blocks: an index of SQLite carries
 * no checksum, so one that lacked a run would hide it.
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
  // With a rowid: to find a row by a key of its own, SQLite would read every long row it passes to its end.
  `CREATE TABLE blocks (
    last TEXT PRIMARY KEY NOT NULL,
    first TEXT NOT NULL,
    runs INTEGER NOT NULL,
    digest TEXT NOT NULL,
    digest_sum TEXT NOT NULL,
    facts TEXT NOT NULL,
    facts_sum TEXT NOT NULL
  )`,
];

/** `meta`: the signature of the jobs directory, taken before it was last listed and all of it put here. */
export const RECONCILED_ROOT = 'reconciled_root';
/** `meta`: how many names it had then. As many rows are those names; any other number is not. */
export const RECONCILED_NAMES = 'reconciled_names';
