import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IndexRow } from '../../../shared/index/schema.ts';
import { recordSignatureOf } from '../../../shared/store/signature.ts';

export function runIdAt(index: number): string {
  const at = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString().replace(/[-:]|\..*/g, '');
  return `${at}-${index.toString(16).padStart(6, '0')}`;
}

/** A row of the usual size, of a run that is over and settled. */
export function rowOf(runId: string, changes: Partial<IndexRow> = {}): IndexRow {
  const [label, status] = ['nightly build', 'completed'];
  return {
    runId,
    signature: 'as read',
    settled: true,
    recordState: 'ok',
    terminal: true,
    status,
    outcome: 'succeeded',
    kind: 'agent',
    label,
    reasonCode: null,
    submittedMs: 1_767_225_600_000,
    notifyState: 'delivered',
    retryState: null,
    tags: [],
    row: JSON.stringify({ run_id: runId, label, status, terminal: true, notes: 'x'.repeat(600) }),
    ...changes,
  };
}

export function rowsOf(count: number, changes: Partial<IndexRow> = {}): IndexRow[] {
  return Array.from({ length: count }, (_, index) => rowOf(runIdAt(index), changes));
}

/** For rows of no record: it is always as it was read. */
export const unchanged = (): string => 'as read';

export interface Progress {
  readonly step: number;
  readonly terminal: boolean;
}

/** Replaces the record as its writers do, by a rename. */
export function publish(jobs: string, runId: string, progress: Progress): void {
  const runDir = join(jobs, runId);
  mkdirSync(runDir, { recursive: true });
  writeFileSync(join(runDir, 'next'), JSON.stringify(progress));
  renameSync(join(runDir, 'next'), join(runDir, 'job.json'));
}

export function progressOf(jobs: string, runId: string): Progress {
  return JSON.parse(readFileSync(join(jobs, runId, 'job.json'), 'utf8'));
}

/** Reads the record and makes its row of it, the signature taken first. */
export function observe(jobs: string, runId: string): IndexRow {
  const signature = recordSignatureOf(join(jobs, runId));
  const progress = progressOf(jobs, runId);
  return rowOf(runId, { signature, terminal: progress.terminal, row: JSON.stringify(progress) });
}
