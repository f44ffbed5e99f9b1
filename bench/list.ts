/**
 * What `lion job list` costs by scan and by index, as ratios within one run to the bare start of node:
 *
 *   npm run build && npx esbuild bench/list.ts --bundle --platform=node --format=esm --packages=external \
 *     --outfile=node_modules/.bench/list.mjs && node node_modules/.bench/list.mjs [runs | jobs directory]
 *
 * A jobs directory of ended runs is only read.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openEngine } from '../shared/engine.ts';
import { runIdAt } from '../test/daemon/index/rows.ts';
import { IndexingByHand } from '../test/shared/index/indexing-by-hand.ts';

const ROUNDS = 15;
/** Of what takes seconds. */
const LONG_ROUNDS = 3;
/** So much later the records just written are history. */
const LATER_MS = 3_600_000;

const what = process.argv[2] ?? '20000';
const home = mkdtempSync(join(tmpdir(), 'liond-bench-'));
const env = { PATH: process.env.PATH, HOME: home, LIONAGI_HOME: home };
const jobs = join(home, 'mcp', 'jobs');
mkdirSync(join(home, 'mcp'));
if (/^\d+$/.test(what)) layRuns(Number(what));
else symlinkSync(resolve(what), jobs);

const { engine } = await openEngine(env, home, new AbortController().signal);
const indexing = new IndexingByHand({ ...engine, now: () => Date.now() + LATER_MS });
await indexing.round({ stats: true, looks: null });
await indexing.close();

const bare = median(ROUNDS, () => execFileSync(process.execPath, ['-e', '0'], { env }));
process.stdout.write(`${readdirSync(jobs).length} runs; node alone: 1 (${bare.toFixed(0)} ms)\n`);
const LISTS: readonly [string, readonly string[], number][] = [
  ['the newest 50', [], ROUNDS],
  ['a status that nothing has', ['--status', 'nosuch'], LONG_ROUNDS],
  ['a label that nothing has', ['--label', '*nosuch*'], LONG_ROUNDS],
  ['the count of all', ['--count'], LONG_ROUNDS],
];
for (const [name, args, rounds] of LISTS) {
  const byIndex = median(rounds, () => list(args, true));
  const byScan = median(rounds, () => list([...args, '--no-index'], false));
  const line = `${(byIndex / bare).toFixed(1)} by index, ${(byScan / bare).toFixed(1)} by scan`;
  process.stdout.write(`${name.padEnd(28)} ${line}\n`);
}
rmSync(home, { recursive: true });

function list(args: readonly string[], used: boolean): void {
  const all = ['dist/cli/main.js', '--machine', 'job', 'list', ...args];
  const { ok, data } = JSON.parse(execFileSync(process.execPath, all, { env, encoding: 'utf8' }));
  if (!ok || data.index.used !== used) throw new Error(`not as wanted: ${JSON.stringify(data?.index)}`);
}

function layRuns(count: number): void {
  const end = '2026-01-02T00:00:00.000000+00:00';
  for (let at = 0; at < count; at++) {
    const run_id = runIdAt(at);
    mkdirSync(join(jobs, run_id), { recursive: true });
    const record = {
      ...{ run_id, pid: null, kind: 'agent', argv: ['li', 'agent'], cwd: '/tmp', label: `run ${at}` },
      ...{ submitted_at: end, finished_at: end, status: 'completed', spawn_state: 'started' },
      ...{ terminal_source: 'cli_terminal_hook', notify_delivery: { attempted: false } },
    };
    writeFileSync(join(jobs, run_id, 'job.json'), JSON.stringify(record, null, 2));
  }
}

function median(rounds: number, work: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  return times.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN;
}
