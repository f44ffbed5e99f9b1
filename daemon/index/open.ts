import { mkdirSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { definitionsOf } from '../../shared/index/definitions.ts';
import { IndexFault, type IndexFaultCode } from '../../shared/index/fault.ts';
import { areFiles, isWhole } from '../../shared/index/file-form.ts';
import { loadSqlite, type Sqlite } from '../../shared/index/load-sqlite.ts';
import { DEFINITIONS, INDEX_VERSION, indexFileOf, PAGE_BYTES } from '../../shared/index/schema.ts';
import { isLocalFilesystem } from '../../shared/store/filesystem.ts';
import { prepareFile } from './index-files.ts';
import { RunIndex } from './run-index.ts';
import { setAside } from './set-aside.ts';

/**
 * The event loop waits with it. Other writers are supervisors, of which there is one but for a moment when one
 * follows another, and a transaction of 200 rows takes 5 to 40 ms; a quarter of a second passes unnoticed where
 * processes are looked at every second.
 */
const BUSY_TIMEOUT_MS = 250;

/** Why an index could not be used and was moved out of the way. */
export type Unusable = 'not_a_file' | 'corrupt' | 'other_version';

export type UnavailableReason = 'no_library' | 'not_local' | IndexFaultCode;

export type OpenedIndex =
  | { readonly state: 'opened' | 'created'; readonly index: RunIndex }
  | { readonly state: 'set_aside'; readonly why: Unusable; readonly index: RunIndex }
  | { readonly state: 'unavailable'; readonly why: UnavailableReason; readonly detail: string };

/**
 * Opens the index of this state directory, or makes one. What lies there and cannot be used is set aside, never
 * deleted; it was a cache, and a fresh one takes its place.
 * @param condemned it is known to be damaged in a place that opening does not look at.
 */
export async function openRunIndex(stateDir: string, condemned = false): Promise<OpenedIndex> {
  const sqlite = await loadSqlite();
  if (typeof sqlite === 'string') return { state: 'unavailable', why: 'no_library', detail: sqlite };
  try {
    return openWith(sqlite, stateDir, condemned);
  } catch (error) {
    const { code, detail } = IndexFault.from(error);
    return { state: 'unavailable', why: code, detail };
  }
}

function openWith(sqlite: Sqlite, stateDir: string, condemned: boolean): OpenedIndex {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  // Its log is shared memory: over a network two hosts would each have their own.
  if (!isLocalFilesystem(stateDir)) return { state: 'unavailable', why: 'not_local', detail: stateDir };
  const file = indexFileOf(stateDir);
  const found = condemned ? 'corrupt' : openFile(sqlite, file);
  if (typeof found !== 'string') return found;
  setAside(stateDir);
  const fresh = openFile(sqlite, file);
  if (typeof fresh === 'string') throw new IndexFault('corrupt', new Error(`a new file is ${fresh}`));
  return { state: 'set_aside', why: found, index: fresh.index };
}

type Usable = Extract<OpenedIndex, { state: 'opened' | 'created' }>;

function openFile(sqlite: Sqlite, file: string): Usable | Unusable {
  if (!areFiles(file)) return 'not_a_file';
  if (!isWhole(file)) return 'corrupt';
  const held = prepareFile(file);
  const database = new sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    const state = layOut(database);
    if (state === 'other_version') {
      database.close();
      return state;
    }
    const index = new RunIndex(database, file, held);
    if (state === 'opened') index.verify();
    return { state, index };
  } catch (error) {
    database.close();
    const fault = IndexFault.from(error);
    if (fault.code === 'corrupt') return 'corrupt';
    throw fault;
  }
}

/** Two who come to an empty file at once: the second finds it laid out. */
function layOut(database: Database): 'opened' | 'created' | 'other_version' {
  database.pragma(`page_size = ${PAGE_BYTES}`);
  if (database.pragma('journal_mode', { simple: true }) !== 'wal') database.pragma('journal_mode = WAL');
  // A loss of power may cost the last rows and never the file.
  database.pragma('synchronous = NORMAL');
  return database
    .transaction(() => {
      const version = database.pragma('user_version', { simple: true });
      const definitions = definitionsOf(database);
      if (version === 0 && definitions.length === 0) {
        for (const definition of DEFINITIONS) database.exec(definition);
        database.pragma(`user_version = ${INDEX_VERSION}`);
        return 'created';
      }
      const isOurs = version === INDEX_VERSION && definitions.join(';') === DEFINITIONS.join(';');
      return isOurs ? 'opened' : 'other_version';
    })
    .immediate();
}
