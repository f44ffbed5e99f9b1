import { LionError } from '../shared/contract/errors.ts';

const DEFAULT_LIMIT = 50;

/**
 * `--limit` of a list: a whole number from 1, 50 where it is not given.
 * @throws LionError `invalid_input`
 */
export function limitOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && Number.isSafeInteger(limit)) return limit;
  throw new LionError('invalid_input', `--limit takes a whole number from 1, not ${JSON.stringify(text)}`);
}
