/**
 * How a record is replaced, so that a reader sees the old one or the new one and a crash leaves either:
 *
 *   1. write `.job.json.lion-<pid>-<hex>.tmp` beside it, created exclusively
 *   2. fsync it   3. rename it over job.json   4. fsync the directory
 *
 * Call it under the run's lock. A step that fails before the rename removes the temporary file and leaves the
 * old record; a process killed there leaves a file that no reader looks at and `lion job prune` takes away.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../errno.ts';

/** The calls of a publication, so that a drill can stop at each of them. */
export interface PublishEffects {
  openSync(path: string, flags: string, mode?: number): number;
  writeSync(fd: number, bytes: Buffer, offset: number): number;
  fsyncSync(fd: number): void;
  closeSync(fd: number): void;
  renameSync(from: string, to: string): void;
}

const REAL: PublishEffects = { openSync, writeSync, fsyncSync, closeSync, renameSync };
const NEW_MODE = 0o600;

/**
 * @param prior what stands there now: its mode and owner are kept; null for a new record (0600).
 * @throws the system's error; the record is then the old one, unless only the last step failed.
 */
export function publishRecord(runDir: string, text: string, prior: Stats | null, effects = REAL): void {
  const temporary = join(runDir, `.job.json.lion-${process.pid}-${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeDurably(temporary, Buffer.from(text), prior, effects);
    effects.renameSync(temporary, join(runDir, 'job.json'));
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  syncDirectory(runDir, effects);
}

function writeDurably(path: string, bytes: Buffer, prior: Stats | null, effects: PublishEffects): void {
  const fd = effects.openSync(path, 'wx', NEW_MODE);
  try {
    if (prior !== null) keepModeAndOwner(fd, prior);
    for (let done = 0; done < bytes.length; ) done += effects.writeSync(fd, bytes, done);
    effects.fsyncSync(fd);
  } finally {
    effects.closeSync(fd);
  }
}

/** Root writing into a user's store must not lock the user out of the record. */
function keepModeAndOwner(fd: number, prior: Stats): void {
  fchmodSync(fd, prior.mode & 0o7777);
  if (process.getuid?.() === 0) fchownSync(fd, prior.uid, prior.gid);
}

function syncDirectory(path: string, effects: PublishEffects): void {
  const fd = effects.openSync(path, 'r');
  try {
    effects.fsyncSync(fd);
  } finally {
    effects.closeSync(fd);
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // The rename may have failed because the directory went; nothing is left to remove then.
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EROFS', 'EACCES', 'EPERM', 'EIO')) throw error;
  }
}
