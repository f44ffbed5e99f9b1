import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDead, listPids, readStat } from '../../shared/process/proc-files.ts';
import { runChild } from '../../shared/process/run-child.ts';

export interface GroupListing {
  /** Live processes by their group; zombies are none. */
  readonly members: ReadonlyMap<number, readonly number[]>;
  /** Processes that are there and whose group is not told to us. */
  readonly hidden: ReadonlySet<number>;
}

/** Between two turns of the event loop; about 5 ms. */
const PROCESSES_A_TURN = 250;
const PS_TIMEOUT_MS = 5_000;
const PS_MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** All processes in one pass, whatever the number of runs; null where the system does not list them. */
export function listGroups(signal: AbortSignal): Promise<GroupListing | null> {
  return process.platform === 'darwin' ? listByPs(signal) : listByProc(signal);
}

async function listByProc(signal: AbortSignal): Promise<GroupListing | null> {
  const pids = listPids();
  if (pids === null) return null;
  const members = new Map<number, number[]>();
  const hidden = new Set<number>();
  for (const [at, pid] of pids.entries()) {
    if (at % PROCESSES_A_TURN === 0) await nextTurn();
    if (signal.aborted) return null;
    const stat = readStat(`/proc/${pid}`);
    if (stat === 'unreadable') hidden.add(pid);
    else if (stat !== 'missing' && !isDead(stat.state)) put(members, stat.groupId, pid);
  }
  return { members, hidden };
}

/** Exported for its test: any system with a ps can run it. */
export async function listByPs(signal: AbortSignal): Promise<GroupListing | null> {
  const ended = await runChild({
    program: '/bin/ps',
    args: ['-axo', 'pid=,pgid=,state='],
    cwd: '/',
    env: { LC_ALL: 'C' },
    stdin: null,
    timeoutMs: PS_TIMEOUT_MS,
    maxOutputBytes: PS_MAX_OUTPUT_BYTES,
    signal,
  });
  if (ended.kind !== 'exited' || ended.exitCode !== 0) return null;
  const members = new Map<number, number[]>();
  for (const line of ended.stdout.toString('latin1').split('\n')) {
    const [, pid, group, state] = /^\s*(\d+)\s+(\d+)\s+(\S+)/.exec(line) ?? [];
    if (state !== undefined && !state.startsWith('Z')) put(members, Number(group), Number(pid));
  }
  return { members, hidden: new Set() };
}

function put(members: Map<number, number[]>, group: number, pid: number): void {
  const others = members.get(group);
  if (others === undefined) members.set(group, [pid]);
  else others.push(pid);
}
