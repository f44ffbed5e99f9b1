import { createHash } from 'node:crypto';
import { LionError } from '../contract/errors.ts';
import type { Engine } from '../engine.ts';
import { signatureOf } from '../store/signature.ts';
import type { ListFilter } from './list-filter.ts';

/**
 * Where the next page begins: below a run id, in the byte order of names. Names have their place for good, so runs
 * that come, end or go between two pages move no other run from one to the next. `filter` is the first page's,
 * with its times as they were then: a window of the last hour does not move while it is paged through.
 */
export interface ListCursor {
  readonly afterRunId: string;
  readonly filter: ListFilter;
}

export function writeCursor(engine: Engine, asked: string, cursor: ListCursor): string {
  const { sinceMs, untilMs } = cursor.filter;
  const payload = JSON.stringify([cursor.afterRunId, sinceMs, untilMs]);
  return Buffer.from(payload + sumOf(engine, asked, payload)).toString('base64url');
}

/**
 * @param asked everything the filter was given as, so that a cursor goes on with the listing it came from.
 * @throws LionError `invalid_input` for what was not written by `writeCursor`, or for another filter or store.
 */
export function readCursor(engine: Engine, asked: string, filter: ListFilter, text: string): ListCursor {
  const bytes = Buffer.from(text, 'base64url');
  const payload = bytes.toString().slice(0, -SUM_CHARS);
  const isOurs =
    bytes.toString('base64url') === text && bytes.toString() === payload + sumOf(engine, asked, payload);
  if (!isOurs) {
    throw new LionError(
      'invalid_input',
      'this cursor is not of this listing: pass next_cursor on as it is, with the same filter and store',
    );
  }
  const [afterRunId, sinceMs, untilMs] = JSON.parse(payload);
  return { afterRunId, filter: { ...filter, sinceMs, untilMs } };
}

const SUM_CHARS = 16;

function sumOf(engine: Engine, asked: string, payload: string): string {
  const store = signatureOf(engine.home.jobsDir)?.split('.', 2).join('.') ?? '';
  return createHash('sha256').update([store, asked, payload].join('\0')).digest('hex').slice(0, SUM_CHARS);
}
