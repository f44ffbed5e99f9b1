import type { Database } from 'better-sqlite3';

/** Of an open file, as `DEFINITIONS` has them where it is this index. */
export function definitionsOf(database: Database): unknown[] {
  const rows = database.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid');
  return rows.pluck().all();
}
