/**
 * What writing the index costs, as ratios within one run:
 *
 *   npm run bench:index -- [rows]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openRunIndex } from '../daemon/index/open.ts';
import { type IndexRow, indexFileOf } from '../shared/index/schema.ts';
import { recordSignatureOf } from '../shared/store/signature.ts';
import { publish, rowsOf, runIdAt, unchanged } from '../test/daemon/index/rows.ts';

const BATCH = 200;
const ROUNDS = 25;
const count = Number(process.argv[2] ?? 100_000);
const root = mkdtempSync(join(tmpdir(), 'liond-bench-'));
const stateDir = join(root, 'liond');
const opened = await openRunIndex(stateDir);
if (opened.state === 'unavailable') throw new Error(`no index: ${opened.why} ${opened.detail}`);
const { index } = opened;
const rows = rowsOf(count);

const filling = timed(() => {
  for (let at = 0; at < count; at += BATCH) index.put(rows.slice(at, at + BATCH), unchanged);
});
const newest = median(ROUNDS, () => index.put(rows.slice(-BATCH), unchanged)) / BATCH;
const spread = median(ROUNDS, (round) => index.put(spreadOf(round), unchanged)) / BATCH;
const [runIds, jobs] = [Array.from({ length: BATCH }, (_, at) => runIdAt(at)), join(root, 'jobs')];
for (const runId of runIds) publish(jobs, runId, { step: 0, terminal: true });
const look = (runId: string): string | null => recordSignatureOf(join(jobs, runId));
const signed = rows.slice(0, BATCH).map((row) => ({ ...row, signature: look(row.runId) }));
const proven = median(ROUNDS, () => index.put(signed, look)) / BATCH;
index.checkpoint();
const verify = median(5, () => index.verify());
const page = median(ROUNDS, (round) => index.known(runIdAt(round * BATCH), 1000));
const walk = timed(() => {
  for (let known = index.known(null, 1000); known.length > 0; ) {
    known = index.known(known.at(-1)?.runId ?? null, 1000);
  }
});
index.close();
const database = new Database(indexFileOf(stateDir));
const quickCheck = median(5, () => database.pragma('quick_check(1)'));
database.close();
const reopened = await timedAsync(async () => {
  const again = await openRunIndex(stateDir);
  if (again.state !== 'unavailable') again.index.close();
});

const lines: [string, string][] = [
  ['rows', `${count}, ${(statSync(indexFileOf(stateDir)).size / 1e6).toFixed(0)} MB`],
  ['one row of a batch in an empty index', `${((1000 * filling) / count).toFixed(0)} us`],
  ['  of the newest runs', `${ratio(newest, filling / count)}`],
  ['  of runs all over the table', `${ratio(spread, filling / count)}`],
  ['  with its record looked at', `${ratio(proven, filling / count)}`],
  ['verify', `${verify.toFixed(0)} ms, ${ratio(quickCheck, verify)} for SQLite's quick check`],
  ['a page of 1,000 known', `${page.toFixed(2)} ms, all of them ${walk.toFixed(0)} ms`],
  ['open, verify and close', `${reopened.toFixed(0)} ms`],
];
for (const [what, figure] of lines) process.stdout.write(`${what.padEnd(40)} ${figure}\n`);
rmSync(root, { recursive: true });

function spreadOf(round: number): IndexRow[] {
  return Array.from({ length: BATCH }, (_, at) => rows[((round * BATCH + at) * 7919) % count]).filter(
    (row) => row !== undefined,
  );
}

function timed(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

async function timedAsync(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function median(rounds: number, work: (round: number) => unknown): number {
  const all = Array.from({ length: rounds }, (_, round) => timed(() => work(round))).sort((a, b) => a - b);
  return all[rounds >> 1] ?? Number.NaN;
}

function ratio(one: number, other: number): string {
  return `${(one / other).toFixed(1)} times`;
}
