import { statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';

/**
 * Tells one state of a file or directory from the next: device, inode, size, both times to the nanosecond.
 * Null where there is nothing, or it cannot be asked.
 */
export function signatureOf(path: string): string | null {
  return sign(path)?.signature ?? null;
}

export function recordSignatureOf(runDir: string): string | null {
  return signatureOf(join(runDir, 'job.json'));
}

export interface Signed {
  readonly signature: string;
  /** Epoch milliseconds of the last change to the file or its name, by the system's own clock. */
  readonly changedMs: number;
}

export function sign(path: string): Signed | null {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return {
      signature: `${dev}.${ino}.${size}.${mtimeNs}.${ctimeNs}`,
      changedMs: Number(ctimeNs / 1_000_000n),
    };
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}

/**
 * A signature that is younger than this at the moment of the look, or from the future, may stand for two states:
 * a change within the clock's grain would not show (git calls such entries racy).
 */
const RACY_MS = 2_000;

export function isRacy(signed: Signed, nowMs: number): boolean {
  return nowMs - signed.changedMs < RACY_MS;
}
