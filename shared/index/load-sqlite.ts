import type BetterSqlite3 from 'better-sqlite3';

export type Sqlite = typeof BetterSqlite3;

/**
 * The library and its native part, loaded when first asked for: whatever needs no index goes on without them.
 * Where they cannot be loaded, the first line of why.
 */
export async function loadSqlite(): Promise<Sqlite | string> {
  try {
    const { default: Database } = await import('better-sqlite3');
    // The native part is loaded with the first database.
    new Database(':memory:').close();
    return Database;
  } catch (error) {
    // In whatever way an installation is broken, there is no index and nothing else is wrong.
    if (!(error instanceof Error)) throw error;
    return error.message.split('\n', 1)[0] ?? error.name;
  }
}
