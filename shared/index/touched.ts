/**
 * `liond/touched/`: one empty file `<run id>~<nonce>` for each change that a writer of ours is about to make to
 * an old end. The rules are in `read-index.ts`. A nonce of its own, because a marker that two changes shared
 * could be taken away for the first while the second is being made.
 */
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, hasCode } from '../errno.ts';
import { indexFileOf } from './schema.ts';

export interface Marker {
  readonly name: string;
  readonly runId: string;
}

/**
 * To be called before the change is made. Never throws: where it cannot be said that the run is touched, the
 * index goes instead; where neither can be done, the change is one that another program might have made.
 * @param owner of the record, who must be able to take the marker away again.
 */
export function markTouched(stateDir: string, runId: string, owner: Stats): void {
  const directory = touchedDirOf(stateDir);
  const marker = join(directory, `${runId}~${randomBytes(6).toString('hex')}`);
  try {
    for (const path of [stateDir, directory]) {
      if (mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined) giveTo(path, owner);
    }
    writeFileSync(marker, '', { flag: 'wx', mode: 0o600 });
    giveTo(marker, owner);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    removeIndex(stateDir);
  }
}

/** None where there is no such directory; @throws the system's error where it cannot be listed. */
export function listTouched(stateDir: string): Marker[] {
  try {
    return readdirSync(touchedDirOf(stateDir)).map((name) => ({ name, runId: runIdOf(name) }));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return [];
  }
}

export function removeTouched(stateDir: string, markers: readonly Marker[]): void {
  for (const { name } of markers) rmSync(join(touchedDirOf(stateDir), name), { force: true });
}

function touchedDirOf(stateDir: string): string {
  return join(stateDir, 'touched');
}

function runIdOf(name: string): string {
  const end = name.lastIndexOf('~');
  return end === -1 ? name : name.slice(0, end);
}

/** Root working in a user's store must not lock the user out of it. */
function giveTo(path: string, owner: Stats): void {
  if (process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid);
}

function removeIndex(stateDir: string): void {
  try {
    rmSync(indexFileOf(stateDir), { force: true });
  } catch (error) {
    if (errnoOf(error) === null) throw error;
  }
}
