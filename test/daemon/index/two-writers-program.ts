/**
 * Writes what it reads of the records into the index, over and over, until its input ends; then once more, all
 * of them. Says what went wrong, and how often a row was refused for having changed. A program of its own.
 */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRunIndex } from '../../../daemon/index/open.ts';
import type { RunIndex } from '../../../daemon/index/run-index.ts';
import { recordSignatureOf } from '../../../shared/store/signature.ts';
import { observe } from './rows.ts';

export interface WriterSaw {
  readonly state: string;
  readonly faults: readonly string[];
  readonly written: number;
  readonly refused: number;
  readonly slowestMs: number;
}

/** Long enough between reading a record and writing its row that it has often changed. */
const THINKING_MS = 15;

const [stateDir = '', jobs = ''] = process.argv.slice(2);
const end = once(process.stdin.resume(), 'end').then(() => 'end' as const);
const opened = await openRunIndex(stateDir);
const seen = { state: opened.state, faults: [] as string[], written: 0, refused: 0, slowestMs: 0 };
if (opened.state === 'unavailable') seen.faults.push(`${opened.why} ${opened.detail}`);
else {
  while ((await Promise.race([end, sleep(5)])) !== 'end') await write(opened.index);
  await write(opened.index);
  opened.index.close();
}
process.stdout.write(JSON.stringify(seen satisfies WriterSaw));

async function write(index: RunIndex): Promise<void> {
  const rows = readdirSync(jobs).map((runId) => observe(jobs, runId));
  await sleep(THINKING_MS);
  const began = performance.now();
  try {
    const refused = index.put(rows, (runId) => recordSignatureOf(join(jobs, runId)));
    seen.refused += refused.length;
    seen.written += rows.length - refused.length;
  } catch (error) {
    seen.faults.push(error instanceof Error ? error.message : String(error));
  }
  seen.slowestMs = Math.max(seen.slowestMs, performance.now() - began);
}
