import Database from 'better-sqlite3';
import type { OpenedIndex, UnavailableReason } from '../../../daemon/index/open.ts';
import { openRunIndex } from '../../../daemon/index/open.ts';
import type { RunIndex } from '../../../daemon/index/run-index.ts';
import { indexFileOf } from '../../../shared/index/schema.ts';
import type { World } from '../../support/world.ts';

/** Opens it and closes it with the world. */
export async function openIn(
  world: World,
  stateDir: string,
): Promise<{ opened: OpenedIndex; index: RunIndex }> {
  const opened = await openRunIndex(stateDir);
  if (opened.state === 'unavailable') throw new Error(`no index: ${opened.why} ${opened.detail}`);
  world.onDispose(() => opened.index.close());
  return { opened, index: opened.index };
}

export async function whyUnavailable(stateDir: string): Promise<UnavailableReason | null> {
  const opened = await openRunIndex(stateDir);
  if (opened.state === 'unavailable') return opened.why;
  opened.index.close();
  return null;
}

/** As a reader of another program sees the file at the path now. */
export function readRows<T>(stateDir: string, sql: string): T[] {
  const database = new Database(indexFileOf(stateDir), { readonly: true });
  try {
    return database.prepare<[], T>(sql).all();
  } finally {
    database.close();
  }
}

/** Does something to the file that no supervisor does. */
export function tamper(stateDir: string, sql: string): void {
  const database = new Database(indexFileOf(stateDir));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
