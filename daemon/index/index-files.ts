/**
 * The three files of the index as they lie on disk. SQLite tells neither which file it holds open nor that
 * another has taken its name, and would play the log of the old file into a new one that lies beside it.
 */
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs';
import { hasCode } from '../../shared/errno.ts';
import { PAGE_BYTES, SIDECAR_SUFFIXES } from '../../shared/index/schema.ts';

const FILE_MODE = 0o600;

/** Device and inode; null: nothing there. */
export type Identity = string | null;

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

/**
 * Makes the file where there is none, for us alone whatever the umask; SQLite gives its sidecars the same mode.
 * Returns which file it is now. A log with no database belonged to one that is gone.
 */
export function prepareFile(file: string): Identity {
  // Looked at first: those of another who makes the file just now are younger than this look.
  const left = sidecarsOf(file).filter((path) => statOf(path) !== null);
  if (statOf(file) === null) {
    for (const path of left) rmSync(path, { force: true });
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, FILE_MODE));
  }
  for (const path of [file, ...sidecarsOf(file)]) keepToOurselves(path);
  return identityOf(file);
}

export function identityOf(path: string): Identity {
  const stat = statOf(path);
  return stat === null ? null : `${stat.dev}.${stat.ino}`;
}

export function sidecarsOf(file: string): string[] {
  return SIDECAR_SUFFIXES.map((suffix) => `${file}${suffix}`);
}

function keepToOurselves(path: string): void {
  const stat = statOf(path);
  if (stat !== null && (Number(stat.mode) & 0o777) !== FILE_MODE) chmodSync(path, FILE_MODE);
}

function statOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return null;
  }
}
