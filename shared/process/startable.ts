import { closeSync, openSync, readSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { errnoOf } from '../errno.ts';
import { isFile } from '../file-kind.ts';

const DEFAULT_PATH = '/usr/bin:/bin';

/**
 * False for a file the system cannot execute by itself. Node's spawn would hand such a one to /bin/sh, and no
 * shell ever runs what a user named. A program that is not there is left to the start to refuse.
 */
export function isStartable(program: string, cwd: string, path: string | undefined): boolean {
  const found = locateProgram(program, cwd, path).find(isFile);
  return found === undefined || hasKnownFormat(found);
}

/** Where a program of this name would be looked for, in order. */
export function locateProgram(program: string, cwd: string, path: string | undefined): string[] {
  if (program.includes('/')) return [resolve(cwd, program)];
  return (path || DEFAULT_PATH).split(delimiter).map((dir) => join(resolve(cwd, dir), program));
}

const HEAD_BYTES = 20;
const ELF = 0x7f454c46;
const MACH_O = new Set([0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe]);
/** e_machine of what runs on a 64-bit machine beside its own kind. */
const ALSO_RUN: Readonly<Record<number, number>> = { 62: 3, 183: 40 };

function hasKnownFormat(path: string): boolean {
  const head = headOf(path);
  // A program may be executable and not readable; it is then no script.
  if (head === null || head.toString('latin1', 0, 2) === '#!') return true;
  const magic = head.readUInt32BE(0);
  if (magic !== ELF) return MACH_O.has(magic);
  const own = headOf(process.execPath)?.readUInt16LE(18);
  const machine = head.readUInt16LE(18);
  return own === undefined || machine === own || machine === ALSO_RUN[own];
}

function headOf(path: string): Buffer | null {
  const head = Buffer.alloc(HEAD_BYTES);
  try {
    const fd = openSync(path, 'r');
    try {
      readSync(fd, head, 0, HEAD_BYTES, 0);
    } finally {
      closeSync(fd);
    }
    return head;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
