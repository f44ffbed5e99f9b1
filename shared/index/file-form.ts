import { type BigIntStats, closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import { hasCode } from '../errno.ts';
import { PAGE_BYTES, SIDECAR_SUFFIXES } from './schema.ts';

/** False where something lies there that is not a file of its own: a directory, a pipe, a link. */
export function areFiles(file: string): boolean {
  return [file, ...sidecarsOf(file)].every((path) => statOf(path)?.isFile() ?? true);
}

/**
 * False for what SQLite would not call damaged: a last page that is not all there, which it fills up with zeros,
 * and a layout of pages, or a format that may only be read, that no file of ours has. An empty file is whole.
 */
export function isWhole(file: string): boolean {
  const size = Number(statOf(file)?.size ?? 0);
  return size === 0 || (size % PAGE_BYTES === 0 && LAYOUTS.includes(layoutOf(file)));
}

/** Page size, format for writing and reading (1: a rollback journal, 2: a log), and what is fixed for all. */
const LAYOUTS = ['2000010100402020', '2000020200402020'];
const LAYOUT_AT = 16;

function layoutOf(file: string): string {
  const handle = openSync(file, constants.O_RDONLY);
  try {
    const bytes = Buffer.alloc(8);
    readSync(handle, bytes, 0, bytes.length, LAYOUT_AT);
    return bytes.toString('hex');
  } finally {
    closeSync(handle);
  }
}

export function sidecarsOf(file: string): string[] {
  return SIDECAR_SUFFIXES.map((suffix) => `${file}${suffix}`);
}

/** Null: nothing there. */
export function statOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return null;
  }
}
