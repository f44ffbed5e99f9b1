import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { errnoOf, hasCode } from '../errno.ts';
import { pyTruthy } from '../json/python.ts';
import type { Json } from '../json/value.ts';
import { type Available, available, unavailable } from './available.ts';
import { lastCharsOf } from './last-chars.ts';

/** `truncated`: there is more before the text that is shown. */
export interface Console extends Available<string> {
  readonly truncated: boolean;
}

export const STATUS_TAIL_CHARS = 4_000;
export const OUTPUT_TAIL_CHARS = 20_000;

/** No code point takes more than four bytes, so this window holds at least the characters asked for. */
const MAX_BYTES_PER_CHAR = 4;

/**
 * The last `tailChars` code points of the log the record names; line ends are `\n`, bad bytes U+FFFD. Only as
 * much of the file is read as that takes. No log named, or no such file: established that there is none.
 */
export function readConsole(log: Json | undefined, tailChars: number): Console {
  if (!pyTruthy(log)) return { ...available<string>(null), truncated: false };
  if (typeof log !== 'string') return failed('unusable_log', "the record's log is not a path");
  try {
    return tail(log, tailChars);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { ...available<string>(null), truncated: false };
    if (errnoOf(error) === null) throw error;
    return failed('unreadable', errnoOf(error) ?? 'unreadable');
  }
}

function tail(path: string, tailChars: number): Console {
  if (path.includes('\0') || !statSync(path).isFile()) return failed('unreadable', 'not a regular file');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(fd);
    const window = tailChars * MAX_BYTES_PER_CHAR + MAX_BYTES_PER_CHAR;
    const start = Math.max(0, size - window);
    const bytes = Buffer.alloc(Math.min(size, window));
    const length = readSync(fd, bytes, 0, bytes.length, start);
    const { text, cut } = lastCharsOf(decode(bytes.subarray(0, length)), tailChars);
    return { ...available(text), truncated: start > 0 || cut };
  } finally {
    closeSync(fd);
  }
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replace(/\r\n?/g, '\n');
}

function failed(reasonCode: string, detail: string): Console {
  return { ...unavailable<string>(reasonCode, detail), truncated: false };
}
