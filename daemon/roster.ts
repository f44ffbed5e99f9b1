import { statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../shared/errno.ts';
import type { ProcessClaim } from '../shared/liveness/claim.ts';

/** What the supervisor remembers of a run that can still change; all of it can be read anew from disk. */
export interface OpenRun {
  readonly runId: string;
  /** Of job.json when it was last read; null: never, or there was none. */
  signature: string | null;
  /** The process its record claims, where a cheap look at it is enough to call it alive. */
  claim: ProcessClaim | null;
  seenAlive: boolean;
  /** When its process was first seen gone with marked survivors left. */
  goneSinceMs: number | null;
  /** Not to be resolved again before this, unless its record changes. */
  notBeforeMs: number;
  failures: number;
  busy: boolean;
}

export function newOpenRun(runId: string): OpenRun {
  return {
    runId,
    signature: null,
    claim: null,
    seenAlive: false,
    goneSinceMs: null,
    notBeforeMs: 0,
    failures: 0,
    busy: false,
  };
}

export function recordSignatureOf(runDir: string): string | null {
  return signatureOf(join(runDir, 'job.json'));
}

/** Tells one state of a file or directory from the next: device, inode, size, both times to the nanosecond. */
export function signatureOf(path: string): string | null {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${dev}.${ino}.${size}.${mtimeNs}.${ctimeNs}`;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
