/**
 * Eight processes submit runs at random moments, and a third of the submitters are killed with -9 somewhere
 * between their start and their answer. When everything that was started has ended, the store is looked at.
 * What must hold then is in `faultsOf`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Leftover, leftoversOf } from '../support/leftovers.ts';
import { type Envelope, LION_MAIN } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import type { World } from '../support/world.ts';

const SUBMITTERS = 8;
/** A submitter is killed at most so long after its start, or as long as a submission takes here if that is longer. */
const KILL_WITHIN_MS = 150;
const ENDED_WITHIN_MS = 60_000;

/** One call of `lion`, killed or not. */
interface Submission {
  readonly label: string;
  readonly killed: boolean;
  /** What it answered before its end. */
  readonly handle: { run_id: string; pid: number } | null;
  /** Why a submitter that nobody killed has no handle. */
  readonly complaint: string | null;
  readonly ms: number;
}

/** A row of `lion job list`, and the record behind it. */
interface Row {
  run_id: string;
  label: string;
  terminal: boolean;
  spawn_state: string;
  record_state: string;
  terminal_source: string | null;
  preparing_age_seconds: number | null;
  refusal: unknown;
}

export interface Drill {
  readonly submissions: Submission[];
  /** Run ids, one for each time a command ran. */
  readonly ran: string[];
  readonly rows: Row[];
  /** The same, asked again. */
  readonly rowsAgain: Row[];
  /** What is in the jobs directory: names in it, by directory. */
  readonly directories: Map<string, string[]>;
  readonly records: Map<string, Record<string, unknown>>;
  readonly stillRunning: readonly Leftover[];
  readonly ms: number;
}

export async function holdDrill(world: World, count: number): Promise<Drill> {
  const ranFile = join(world.root, 'ran');
  layCommands(world, ranFile);
  const began = performance.now();
  const submissions: Submission[] = [];
  let next = 0;
  const submitter = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await sleep(Math.random() * 60);
      submissions.push(await submit(world, index, killAfter(index, submissions)));
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  const stillRunning = await leftoversOf(world.root, ENDED_WITHIN_MS);
  const ms = performance.now() - began;
  const list = async (): Promise<Row[]> =>
    (await askData(world, ['job', 'list', '--limit', String(count + 1)])).jobs;
  const directories = new Map(
    readdirSync(world.jobs).map((name) => [name, readdirSync(join(world.jobs, name))]),
  );
  const rows = await list();
  const records = new Map(
    [...directories]
      .filter(([, names]) => names.includes('job.json'))
      .map(([name]) => [name, JSON.parse(readFileSync(join(world.jobs, name, 'job.json'), 'utf8'))]),
  );
  return {
    submissions,
    ran: linesOf(ranFile),
    rows,
    rowsAgain: await list(),
    directories,
    records,
    stillRunning,
    ms,
  };
}

/** Everything that is not as it must be, in words; nothing: the drill was passed. */
export function faultsOf(drill: Drill): string[] {
  const faults = drill.stillRunning.map(({ command }) => `still running: ${command}`);
  for (const { label, complaint } of drill.submissions)
    if (complaint !== null) faults.push(`submitter ${label}, which nobody killed: ${complaint}`);
  const withRecord = [...drill.records.keys()].sort();
  const listed = drill.rows.map((row) => row.run_id).sort();
  if (listed.join() !== withRecord.join()) faults.push(`listed ${listed}, and the records are ${withRecord}`);
  faults.push(...twice('run ids of commands', drill.ran), ...twice('rows', listed));
  faults.push(
    ...twice(
      'labels',
      drill.rows.map((row) => row.label),
    ),
  );
  faults.push(
    ...twice(
      'handles',
      drill.submissions.flatMap(({ handle }) => (handle ? [handle.run_id] : [])),
    ),
  );
  for (const id of drill.ran) if (!drill.records.has(id)) faults.push(`${id} ran without a record`);
  for (const row of drill.rows)
    faults.push(...faultsOfRow(drill, row).map((fault) => `${row.run_id}: ${fault}`));
  for (const [name, names] of drill.directories)
    faults.push(...names.filter(isStrange).map((strange) => `${name}: left in it: ${strange}`));
  if (settled(drill.rows) !== settled(drill.rowsAgain)) faults.push('a second list answers otherwise');
  return faults;
}

function faultsOfRow(drill: Drill, row: Row): string[] {
  const faults: string[] = [];
  const record = drill.records.get(row.run_id) ?? {};
  const submission = drill.submissions.find(({ label }) => label === row.label);
  if (row.record_state !== 'ok' || row.refusal !== null) faults.push(`damaged: ${JSON.stringify(row)}`);
  if (record.run_id !== row.run_id) faults.push(`its record names ${record.run_id}`);
  if (drill.ran.includes(row.run_id)) {
    const end = [row.terminal, row.terminal_source, record.exit_code];
    // An li reports no exit code of its own.
    const code = record.kind === 'command' ? Number(row.label) % 7 : undefined;
    if (end.join() !== [true, 'cli_terminal_hook', code].join())
      faults.push(`its command ran, and its end is ${end}`);
  } else {
    const waits = row.spawn_state === 'preparing' && !row.terminal && Number(row.preparing_age_seconds) > 0;
    if (!waits) faults.push(`nothing ran, and it is ${row.spawn_state}, terminal ${row.terminal}`);
    if (!submission?.killed) faults.push('nothing ran, and nobody killed its submitter');
  }
  if (submission?.handle) {
    const attached = [record.run_id, record.pid, record.spawn_state].join();
    const promised = [submission.handle.run_id, submission.handle.pid, 'started'].join();
    if (attached !== promised) faults.push(`its submitter said ${promised}, its record says ${attached}`);
  }
  return faults;
}

/** One line of what was counted. */
export function countsOf(drill: Drill): string {
  const { submissions, rows, directories, records } = drill;
  const ran = new Set(drill.ran);
  const orphans = rows.filter((row) => row.spawn_state === 'preparing' && ran.has(row.run_id)).length;
  const waiting = rows.filter((row) => !ran.has(row.run_id)).length;
  const temps = [...directories.values()].flat().filter(isTemporary).length;
  const times = submissions.filter(({ killed }) => !killed).map(({ ms }) => ms);
  return [
    `submits ${submissions.length}`,
    `killed ${submissions.filter(({ killed }) => killed).length}`,
    `answered ${submissions.filter(({ handle }) => handle !== null).length}`,
    `directories ${directories.size}: reservations ${directories.size - records.size}, records ${records.size}`,
    `commands that ran ${ran.size}, ends ${rows.filter((row) => row.terminal).length}`,
    `submitter killed with its child alive and no pid attached ${orphans}`,
    `left preparing without a child ${waiting}`,
    `temporary files left ${temps}`,
    `a submission took ${Math.round(medianOf(times))} ms (median)`,
    `faults ${faultsOf(drill).length}`,
    `${(drill.ms / 1000).toFixed(1)} s`,
  ].join('; ');
}

/** Every third is killed: half of them anywhere, half about when the run is made. Null: it is not killed. */
function killAfter(index: number, before: readonly Submission[]): number | null {
  if (index % 3 !== 2) return null;
  const usual = medianOf(before.filter(({ killed }) => !killed).map(({ ms }) => ms));
  if (index % 2 === 0) return Math.random() * Math.max(KILL_WITHIN_MS, usual);
  return Math.max(KILL_WITHIN_MS, usual) * (0.5 + Math.random() / 2);
}

function medianOf(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Every fourth is an agent of a stand-in for `li`, which calls its hook as `li` does. */
function layCommands(world: World, ranFile: string): void {
  const li = `echo "$LIONAGI_RUN_ID" >> '${ranFile}'; sleep 0.1\nhook=$(printf %s "$3" | sed 's/{status}/completed/')\neval "exec $hook"\n`;
  writeFileSync(join(world.bin, 'li'), li);
  writeFileSync(
    join(world.bin, 'command'),
    `echo "$LIONAGI_RUN_ID" >> '${ranFile}'; sleep "$1"; exit "$2"\n`,
  );
  writeFileSync(join(world.work, 'prompt'), 'do it\n');
  world.env.LIONAGI_MCP_LI_BIN = `/bin/sh ${join(world.bin, 'li')}`;
}

function wordsOf(world: World, index: number): string[] {
  const options = ['--machine', '--label', String(index), '--prompt-file', join(world.work, 'prompt')];
  if (index % 4 === 3) return ['agent', '--detach', '--no-mcp', ...options];
  const command = ['/bin/sh', join(world.bin, 'command'), String((index % 5) / 10), String(index % 7)];
  return ['job', 'submit', ...options, '--', ...command];
}

async function submit(world: World, index: number, killAfterMs: number | null): Promise<Submission> {
  const began = performance.now();
  const child = spawn(process.execPath, [LION_MAIN, ...wordsOf(world, index)], {
    env: world.env,
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const ended = await new Promise((resolve) =>
    child.once('close', (code, signal) => resolve(code === 0 ? null : `${code} ${signal}`)),
  );
  if (timer !== null) clearTimeout(timer);
  const envelope = out.endsWith('\n') ? (JSON.parse(out) as Envelope) : null;
  const killed = killAfterMs !== null;
  const wrong = ended !== null || envelope?.ok !== true;
  return {
    label: String(index),
    killed,
    handle: envelope?.ok ? envelope.data : null,
    complaint: wrong && !killed ? `${ended} ${out} ${err}` : null,
    ms: performance.now() - began,
  };
}

function isTemporary(name: string): boolean {
  return name.endsWith('.tmp');
}

function isStrange(name: string): boolean {
  return !isTemporary(name) && !['job.json', 'job.lock', 'console.log', 'prompt.txt'].includes(name);
}

function twice(what: string, ids: readonly string[]): string[] {
  const again = ids.filter((id, at) => ids.indexOf(id) !== at);
  return again.length > 0 ? [`${what} that are there twice: ${again}`] : [];
}

/** Rows without what grows with time. */
function settled(rows: readonly Row[]): string {
  return JSON.stringify(rows.map((row) => ({ ...row, preparing_age_seconds: null })));
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
