import { type Stats, statSync } from 'node:fs';
import { errnoOf } from './errno.ts';

/** Links count as what they lead to; what cannot be asked about (no access, a NUL, too long) is neither. */
export function isDirectory(path: string): boolean {
  return statOf(path)?.isDirectory() ?? false;
}

export function isFile(path: string): boolean {
  return statOf(path)?.isFile() ?? false;
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
