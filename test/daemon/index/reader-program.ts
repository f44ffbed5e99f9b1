/** Reads all rows of the index, over and over, until its input ends, and says which went back. A program of its own. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRows } from './opened.ts';
import type { Progress } from './rows.ts';

export interface ReaderSaw {
  readonly faults: readonly string[];
  readonly reads: number;
  readonly slowestMs: number;
}

const [stateDir = ''] = process.argv.slice(2);
const end = once(process.stdin.resume(), 'end').then(() => 'end' as const);
const last = new Map<string, Progress>();
const seen = { faults: [] as string[], reads: 0, slowestMs: 0 };
while ((await Promise.race([end, sleep(1)])) !== 'end') read();
process.stdout.write(JSON.stringify(seen satisfies ReaderSaw));

function read(): void {
  const began = performance.now();
  try {
    const rows = readRows<{ run_id: string; row: string }>(stateDir, 'SELECT run_id, row FROM runs');
    for (const { run_id, row } of rows) compare(run_id, JSON.parse(row));
  } catch (error) {
    seen.faults.push(error instanceof Error ? error.message : String(error));
  }
  seen.reads += 1;
  seen.slowestMs = Math.max(seen.slowestMs, performance.now() - began);
}

function compare(runId: string, now: Progress): void {
  const before = last.get(runId);
  last.set(runId, now);
  if (before !== undefined && (now.step < before.step || (before.terminal && !now.terminal))) {
    seen.faults.push(`${runId} went back from ${JSON.stringify(before)} to ${JSON.stringify(now)}`);
  }
}
