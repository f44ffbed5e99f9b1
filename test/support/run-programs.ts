/** Runs that behave in certain ways when they are asked to end. `stop` ends each and whatever it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { endChild, endPid, isThere, type WatchedProcess } from './processes.ts';
import { PYTHON } from './python.ts';
import { startTimeOf } from './start-time.ts';
import { waitUntil } from './wait-until.ts';

const MARK = 'LIONAGI_MCP_JOB_RUN_ID';

export interface Program {
  /** The run whose mark it carries; none where null. */
  readonly mark: string | null;
  /** A directory of its own, for what it has to tell. */
  readonly work: string;
}

/** Its processes, by their part; the leader is `sh`. */
export interface RunTree extends WatchedProcess {
  readonly node: number;
  /** Ignores SIGTERM. */
  readonly stubborn: number;
  /** In a session of its own; null where it was not asked for. */
  readonly setsid: number | null;
}

export interface Tree extends Program {
  readonly withSetsid: boolean;
  /** The mark of the stubborn one; its parent's where left out. */
  readonly stubbornMark?: null;
}

/** sh, which started node, which started a child that ignores SIGTERM and perhaps one that calls setsid. */
export async function startTree(tree: Tree): Promise<RunTree> {
  const told = join(tree.work, 'tree.json');
  const command = `"$0" -e "$1" "$2" "$3" "$4" & wait`;
  const more = [tree.withSetsid ? 'setsid' : '', tree.stubbornMark === null ? 'unmarked' : ''];
  const { child, started } = await startLeader(
    ['sh', '-c', command, process.execPath, TREE, told, ...more],
    tree.mark,
  );
  const parts = await waitUntil('the tree to stand', () => partsIn(told));
  const asleep = [parts.stubborn, ...(parts.setsid === null ? [] : [parts.setsid])];
  await waitUntil('its children to sleep', () => asleep.every((pid) => nameOf(pid) === 'sleep'));
  const all = [parts.node, ...asleep];
  const stop = async () => {
    for (const pid of all) endPid(pid);
    await endChild(child);
    await waitUntil('the tree to be gone', () => all.every((pid) => !isThere(pid)));
  };
  return { ...started, ...parts, stop };
}

/** At SIGTERM it goes on working for so long, adding to its log, and then exits 0. */
export async function startWorker(program: Program, worksOnSeconds: number): Promise<WatchedProcess> {
  const log = join(program.work, 'worker.log');
  const { child, started } = await startLeader(
    [PYTHON, '-c', WORKER, log, String(worksOnSeconds)],
    program.mark,
  );
  await waitUntil('the worker to work', () => existsSync(log));
  return { ...started, stop: () => endChild(child) };
}

export function logOf(program: Program): string {
  return readFileSync(join(program.work, 'worker.log'), 'utf8');
}

/** It has ended: not there, or not collected yet. */
export function hasEnded(pid: number): boolean {
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return !isThere(pid);
  }
}

interface Leader {
  child: ChildProcess;
  started: WatchedProcess;
}

async function startLeader(command: readonly string[], mark: string | null): Promise<Leader> {
  const [program = '', ...args] = command;
  const env = { PATH: '/usr/bin:/bin', ...(mark === null ? {} : { [MARK]: mark }) };
  const child = spawn(program, args, { detached: true, stdio: 'ignore', env });
  if (child.pid === undefined) await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const fate = () => child.signalCode ?? (child.exitCode === null ? 'alive' : 'ended');
  const started = { pid, pgid: pid, members: [], ...startTimeOf(pid), fates: () => [fate()] };
  return { child, started: { ...started, stop: () => endChild(child) } };
}

function partsIn(file: string): { node: number; stubborn: number; setsid: number | null } | null {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

function nameOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}

/** Arguments: where to tell of the parts, `setsid` for one in a session of its own, `unmarked` for the stubborn. */
const TREE = `
const { spawn } = require('node:child_process');
const { renameSync, writeFileSync } = require('node:fs');
const [told, setsid, unmarked] = process.argv.slice(1);
const quiet = { stdio: 'ignore' };
const env = unmarked === '' ? process.env : { PATH: process.env.PATH };
const stubborn = spawn('sh', ['-c', 'trap "" TERM; exec sleep 3600'], { ...quiet, env });
const away = setsid === '' ? null : spawn('sleep', ['3600'], { ...quiet, detached: true });
const parts = { node: process.pid, stubborn: stubborn.pid, setsid: away === null ? null : away.pid };
writeFileSync(told + '.tmp', JSON.stringify(parts));
renameSync(told + '.tmp', told);
setInterval(() => {}, 1000);
`;

const WORKER = `
import signal, sys, time
log, works_on = sys.argv[1], float(sys.argv[2])
until = None
def asked(number, frame):
    global until
    until = until or time.monotonic() + works_on
signal.signal(signal.SIGTERM, asked)
with open(log, "a", buffering=1) as file:
    while until is None or time.monotonic() < until:
        file.write("working\\n")
        time.sleep(0.02)
    file.write("done\\n")
`;
