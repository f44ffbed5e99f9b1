import type BetterSqlite3 from 'better-sqlite3';
import { isLoadFailure } from '../environment-fault.ts';

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
    if (!isLoadFailure(error) && !isMissingBinding(error)) throw error;
    return error.message.split('\n', 1)[0] ?? error.name;
  }
}

/** `bindings`, which looks in many places for a native part, has no code for finding it in none. */
function isMissingBinding(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith('Could not locate the bindings file');
}
