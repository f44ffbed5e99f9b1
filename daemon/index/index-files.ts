/**
 * The three files of the index as they lie on disk. SQLite tells neither which file it holds open nor that
 * another has taken its name, and would play the log of the old file into a new one that lies beside it.
 */
import { chmodSync, closeSync, constants, openSync, rmSync } from 'node:fs';
import { sidecarsOf, statOf } from '../../shared/index/file-form.ts';

const FILE_MODE = 0o600;

/** Device and inode; null: nothing there. */
export type Identity = string | null;

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

function keepToOurselves(path: string): void {
  const stat = statOf(path);
  if (stat !== null && (Number(stat.mode) & 0o777) !== FILE_MODE) chmodSync(path, FILE_MODE);
}
