import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf, hasCode } from '../errno.ts';
import { JsonSyntaxError, type ObjectText, parseObjectText } from '../json/parse.ts';

/** A record larger than this is not read; other writers' records are a few kilobytes. */
export const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/**
 * The four answers to "what is in job.json", never folded together: no file is a fact about the run, bytes
 * that cannot be read are no answer at all (design 3).
 */
export type RecordRead =
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable'; readonly why: string }
  | { readonly state: 'wrong_shape' }
  | { readonly state: 'ok'; readonly object: ObjectText; readonly stat: Stats };

/** Never throws, never blocks: a FIFO or device as job.json is seen for what it is before it is opened. */
export function readRecord(runDir: string): RecordRead {
  const path = join(runDir, 'job.json');
  try {
    return parse(readBounded(path, MAX_RECORD_BYTES));
  } catch (error) {
    if (error instanceof UnusableFile) return { state: 'unreadable', why: error.message };
    if (error instanceof JsonSyntaxError) return { state: 'unreadable', why: `not JSON: ${error.message}` };
    if (hasCode(error, 'ENOENT')) return missing(path);
    return { state: 'unreadable', why: errnoOf(error) ?? 'could not be read' };
  }
}

/** A name that leads nowhere is a damaged record, not a missing one. */
export const DANGLING = 'a link that leads nowhere';

function missing(path: string): RecordRead {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isSymbolicLink() ? { state: 'unreadable', why: DANGLING } : { state: 'absent' };
}

function parse(file: { bytes: Buffer; stat: Stats }): RecordRead {
  const object = parseObjectText(decodeUtf8(file.bytes));
  return object === null ? { state: 'wrong_shape' } : { state: 'ok', object, stat: file.stat };
}

/** Why a file cannot be used; the message is a short phrase for people. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
}

/**
 * All bytes of a regular file of at most `maxBytes`.
 * @throws UnusableFile for another sort of file or a larger one, else the system's error.
 */
export function readBounded(path: string, maxBytes: number): { bytes: Buffer; stat: Stats } {
  if (!statSync(path).isFile()) throw new UnusableFile('not a regular file');
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new UnusableFile('not a regular file');
    if (stat.size > maxBytes) throw new UnusableFile(`larger than ${maxBytes} bytes`);
    return { bytes: readAll(fd, stat.size, maxBytes), stat };
  } finally {
    closeSync(fd);
  }
}

function readAll(fd: number, expected: number, maxBytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(expected, maxBytes) + 1);
  let length = 0;
  while (length < buffer.length) {
    const got = readSync(fd, buffer, length, buffer.length - length, length);
    if (got === 0) return buffer.subarray(0, length);
    length += got;
  }
  throw new UnusableFile('growing while it was read');
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return STRICT.decode(bytes);
  } catch {
    throw new UnusableFile('not UTF-8');
  }
}
