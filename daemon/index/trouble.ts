import type { UnavailableReason } from './open.ts';

export type TroubleCode =
  | 'index_unavailable'
  | 'index_busy'
  | 'index_full'
  | 'index_readonly'
  | 'index_corrupt';

/** Why there is no index to rely on at the moment, for people; lists scan meanwhile and answer the same. */
export interface IndexTrouble {
  readonly code: TroubleCode;
  readonly cause: string;
  readonly cure: string;
}

/** @param detail the library's or system's own word; it may name paths and is not safe to print as it is. */
export function troubleOf(why: UnavailableReason, detail: string): IndexTrouble {
  switch (why) {
    case 'no_library':
      return {
        code: 'index_unavailable',
        cause: `SQLite cannot be loaded: ${detail}`,
        cure: 'Install liond again with this version of Node, so that better-sqlite3 fits it.',
      };
    case 'not_local':
      return {
        code: 'index_unavailable',
        cause: `${detail} is on a file system that is not known to be local to this machine.`,
        cure: 'Nothing has to be done: lists scan. Only a LIONAGI_HOME on a local disk can have an index.',
      };
    case 'busy':
      return {
        code: 'index_busy',
        cause: `Another process keeps the index locked (${detail}).`,
        cure: 'End the program that holds index.sqlite3 open for writing; it is tried again by itself.',
      };
    case 'full':
      return {
        code: 'index_full',
        cause: `There is no room left on the disk of the index (${detail}).`,
        cure: 'Free some space; the index is then brought up to date by itself.',
      };
    case 'readonly':
      return {
        code: 'index_readonly',
        cause: `The index or its directory cannot be written (${detail}).`,
        cure: 'Give the supervisor its directory mcp/liond under LIONAGI_HOME to write in; it is tried again by itself.',
      };
    case 'corrupt':
      return {
        code: 'index_corrupt',
        cause: `The index is damaged (${detail}).`,
        cure: 'It is set aside and built anew by itself. If that happens again, look after the disk.',
      };
    case 'unknown':
      return {
        code: 'index_unavailable',
        cause: `The index cannot be used (${detail}).`,
        cure: 'It is opened again by itself. If this stays, stop liond, remove index.sqlite3 and start it.',
      };
  }
}
