/**
 * What `lion job list` and `lion job status` cost, beside a bare start of node, our own scan and a plain scan in
 * Python, over histories of ended runs:
 *
 *   npm run bench:list -- 1000 10000 100000
 *
 * Whole processes are medians of rounds in which all are started in turn; the same calls in this process are the
 * median and the 99th percentile. All ratios are of one run on one machine.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wordsOf } from '../cli/job/list-filter.ts';
import { BLOCK_SHAPE } from '../daemon/index/blocks.ts';
import { type Engine, openEngine } from '../shared/engine.ts';
import { listRuns } from '../shared/run/list.ts';
import { writeCursor } from '../shared/run/list-cursor.ts';
import { type ListFilter, NO_FILTER } from '../shared/run/list-filter.ts';
import { runIdAt } from '../test/daemon/index/rows.ts';
import { IndexingByHand } from '../test/shared/index/indexing-by-hand.ts';

const WHOLE_ROUNDS = 21;
const IN_PROCESS_ROUNDS = 200;
/** A copy of its own: what is measured is not built anew meanwhile. */
const LION = 'node_modules/.bench/dist/cli/main.js';
/** Of what takes seconds, and of what takes minutes. */
const LONG_ROUNDS = 3;
const LONGEST_ROUNDS = 1;
const LONGEST_RUNS = 1_000_000;
/** So much later the records just written are history. */
const LATER_MS = 3_600_000;
/** One run in so many has failed. */
const FAILED_EACH = 100;

const PYTHON_SCAN = `
import json, os, sys, time
began = time.perf_counter()
jobs, wanted, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
found = []
for name in sorted(os.listdir(jobs), reverse=True):
    if len(found) == limit: break
    try: record = json.load(open(os.path.join(jobs, name, "job.json")))
    except (OSError, ValueError): continue
    if wanted in ("", record.get("status")): found.append(record)
print((time.perf_counter() - began) * 1000)
`;

interface Question {
  readonly name: string;
  readonly args: readonly string[];
  readonly filter: ListFilter;
  readonly afterRunId: string | null;
}

const home = mkdtempSync(join(process.env.LION_BENCH_DIR ?? tmpdir(), 'liond-bench-'));
try {
  for (const runs of process.argv.slice(2).map(Number)) await measure(runs);
} finally {
  rmSync(home, { recursive: true });
}

async function measure(runs: number): Promise<void> {
  const root = join(home, String(runs));
  const jobs = join(root, 'mcp', 'jobs');
  layRuns(jobs, runs);
  const env = { PATH: process.env.PATH ?? '', HOME: root, LIONAGI_HOME: root };
  const opened = await openEngine(env, root, new AbortController().signal);
  const engine = { ...opened.engine, now: () => Date.now() + LATER_MS };
  const began = performance.now();
  const indexing = new IndexingByHand(engine);
  await indexing.round({ stats: true, looks: null, blocks: BLOCK_SHAPE });
  await indexing.close();
  say(`\n${runs} runs, indexed in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const questions = questionsOf(opened.engine, runs);
  wholeProcesses(env, questions, runIdAt(runs >> 1));
  const rounds = runs < LONGEST_RUNS ? LONG_ROUNDS : LONGEST_ROUNDS;
  for (const question of questions) await inProcess(opened.engine, question, { jobs, rounds });
  mkdirSync(join(jobs, runIdAt(runs + 1)));
  say('after a name has come (the names are listed, the records are not read):');
  for (const question of questions.slice(0, 2)) await inProcess(opened.engine, question, null);
}

function questionsOf(engine: Engine, runs: number): Question[] {
  const middle = runIdAt(runs >> 1);
  const cursor = writeCursor(engine, wordsOf({}), { afterRunId: middle, filter: NO_FILTER });
  return [
    { name: 'the newest 50', args: [], filter: NO_FILTER, afterRunId: null },
    question('none of them', ['--status', 'nosuch'], { status: 'nosuch' }),
    question('one in a hundred', ['--status', 'failed'], { status: 'failed' }),
    { name: 'a page in the middle', args: ['--cursor', cursor], filter: NO_FILTER, afterRunId: middle },
    question('a label none has', ['--label', '*nosuch*'], { label: '*nosuch*' }),
  ];
}

function question(name: string, args: readonly string[], filter: Partial<ListFilter>): Question {
  return { name, args, filter: { ...NO_FILTER, ...filter }, afterRunId: null };
}

function wholeProcesses(env: NodeJS.ProcessEnv, questions: readonly Question[], runId: string): void {
  const lion = (...args: readonly string[]): string[] => [LION, '--machine', 'job', ...args];
  const commands = [
    { name: 'node alone', args: ['-e', '0'] },
    { name: 'job status', args: lion('status', runId) },
    ...questions.map(({ name, args }) => ({ name, args: lion('list', ...args) })),
    { name: 'job list --count', args: lion('list', '--count') },
  ];
  const times = commands.map((): number[] => []);
  for (let round = 0; round < WHOLE_ROUNDS; round++) {
    for (const [at, { args }] of commands.entries()) {
      const began = performance.now();
      const answer = execFileSync(process.execPath, args, { env, encoding: 'utf8' });
      times[at]?.push(performance.now() - began);
      if (args.includes('list') && !JSON.parse(answer).data?.index.used)
        throw new Error(answer.slice(0, 300));
    }
  }
  const bareMs = percentile(times[0] ?? [], 0.5);
  for (const [at, { name }] of commands.entries()) {
    const ms = percentile(times[at] ?? [], 0.5);
    say(
      `  whole process, ${name.padEnd(20)} ${ms.toFixed(0).padStart(5)} ms  ${(ms / bareMs).toFixed(2)} x node`,
    );
  }
}

async function inProcess(engine: Engine, asked: Question, beside: Beside | null): Promise<void> {
  const [p50, p99] = await times(engine, asked, true, IN_PROCESS_ROUNDS);
  const others = beside === null ? '' : await besides(engine, asked, beside, p50);
  say(`  in process, ${asked.name.padEnd(23)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${others}`);
}

interface Beside {
  readonly jobs: string;
  readonly rounds: number;
}

async function besides(
  engine: Engine,
  asked: Question,
  { jobs, rounds }: Beside,
  ms: number,
): Promise<string> {
  const [scanned] = await times(engine, asked, false, rounds);
  const scan = `, our scan ${ratio(scanned, ms)}`;
  if (asked.afterRunId !== null || asked.filter.label !== null) return scan;
  const args = ['-c', PYTHON_SCAN, jobs, asked.filter.status ?? '', '50'];
  const took = Array.from({ length: rounds }, () => Number(execFileSync('python3', args)));
  return `${scan}, Python ${ratio(percentile(took, 0.5), ms)}`;
}

async function times(
  engine: Engine,
  asked: Question,
  useIndex: boolean,
  rounds: number,
): Promise<[number, number]> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await listRuns(engine, { ...asked, limit: 50, useIndex });
    took.push(performance.now() - began);
  }
  return [percentile(took, 0.5), percentile(took, 0.99)];
}

function ratio(ms: number, besides: number): string {
  return `${ms.toFixed(0)} ms (${(ms / besides).toFixed(0)} x)`;
}

/** As the recorded engine writes them. */
function layRuns(jobs: string, count: number): void {
  const times = {
    submitted_at: '2026-01-02T00:00:00.000000+00:00',
    started_at: '2026-01-02T00:00:00.100000+00:00',
  };
  for (let at = 0; at < count; at++) {
    const run_id = runIdAt(at);
    mkdirSync(join(jobs, run_id), { recursive: true });
    const failed = at % FAILED_EACH === 0;
    const record = {
      ...{ run_id, pid: null, kind: 'agent', argv: ['li', 'agent', '--label', `run ${at}`], cwd: '/tmp' },
      ...{ label: `run ${at}`, ...times, finished_at: '2026-01-02T00:01:00.000000+00:00' },
      ...{
        status: failed ? 'failed' : 'completed',
        spawn_state: 'started',
        reason_code: failed ? 'boom' : null,
      },
      ...{
        terminal_source: 'cli_terminal_hook',
        notify_delivery: { attempted: true, ok: true, error: null },
      },
      ...{ log_path: join(jobs, run_id, 'output.log'), session_id: null, notify_on_terminal: ['true'] },
    };
    writeFileSync(join(jobs, run_id, 'job.json'), JSON.stringify(record, null, 2));
  }
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
