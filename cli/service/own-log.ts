import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { errnoOf } from '../../shared/errno.ts';

/** Lines are far shorter; so much of the end is read, however many are asked for. */
const MAX_TAIL_BYTES = 4 * 1024 * 1024;

/** The last whole lines of a file, oldest first; null: it cannot be opened. */
export function lastLines(path: string, count: number): string[] | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
  try {
    const { size } = fstatSync(fd);
    const start = Math.max(0, size - MAX_TAIL_BYTES);
    const bytes = Buffer.alloc(size - start);
    const text = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, start)).toString('utf8');
    // What stands before the first line end may be the rest of a line.
    const lines = (start > 0 ? text.slice(text.indexOf('\n') + 1) : text).split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines.slice(-count);
  } finally {
    closeSync(fd);
  }
}

/** What the supervisor wrote last before it gave up, if that is no older than `sinceMs`. */
export function lastWord(path: string, sinceMs: number): string | null {
  for (const line of (lastLines(path, 50) ?? []).reverse()) {
    const entry = objectIn(line);
    if (entry?.event === 'fatal' && Date.parse(String(entry.time)) >= sinceMs) return String(entry.message);
  }
  return null;
}

function objectIn(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
