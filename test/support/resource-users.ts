/** Processes that use known amounts of CPU and memory. `stop` ends each with its group. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { BARE_ENV, ended, firstLineOf } from './live-runs.ts';
import { PYTHON } from './python.ts';
import { waitUntil } from './wait-until.ts';

export interface ResourceUser {
  readonly pid: number;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** Leads a group of `members` processes, itself one of them, each of which never rests. */
export function startBusy(members = 1): Promise<ResourceUser> {
  return start(`${GROUP}\nprint("busy", flush=True)\nwhile True: pass`, [String(members), '0']);
}

/** The same at rest, each member with so many bytes in memory. */
export function startHolding(bytes: number, members = 1): Promise<ResourceUser> {
  return start(`${GROUP}\nhold()\nprint("held", flush=True)\nsignal.pause()`, [
    String(members),
    String(bytes),
  ]);
}

/** Holds so many bytes until `giveBack`. */
export async function startGivingBack(bytes: number): Promise<ResourceUser & { giveBack(): Promise<void> }> {
  const user = await start(GIVING_BACK, ['1', String(bytes)]);
  const giveBack = async (): Promise<void> => {
    const said = firstLineOf(user.child);
    user.child.stdin?.write('now\n');
    await said;
  };
  return { ...user, giveBack };
}

/** Leads a group in which `total` processes begin and end, 20 at a time, each within 40 ms; then it ends. */
export function startChurn(total: number): Promise<ResourceUser> {
  return start(CHURN, [String(total), '0']);
}

/** CPU time of a process to the nanosecond, as the scheduler counts it. */
export function cpuMsOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function start(program: string, args: readonly string[]): Promise<ResourceUser> {
  const child = spawn(PYTHON, ['-S', '-c', program, ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: BARE_ENV,
  });
  const pid = child.pid ?? 0;
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, 'SIGKILL');
    await ended(child);
    await waitUntil('the group to be gone', () => !isGroupThere(pid));
  };
  await firstLineOf(child);
  return { pid, child, stop };
}

function isGroupThere(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/** Forks the other members; each says when it is ready, and the leader goes on when all have. */
const GROUP = `
import os, signal, sys
held = None
def hold():
    global held
    held = b"x" * int(sys.argv[2])
ready, tell = os.pipe()
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        hold()
        os.write(tell, b"x")
        while sys.argv[2] == "0": pass
        signal.pause()
for _ in range(int(sys.argv[1]) - 1): os.read(ready, 1)
`;

const GIVING_BACK = `
import mmap, sys
held = mmap.mmap(-1, int(sys.argv[2]), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(held), 4096): held[at] = 1
print("held", flush=True)
sys.stdin.readline()
held.close()
print("given back", flush=True)
sys.stdin.read()
`;

const CHURN = `
import os, random, sys, time
print("begun", flush=True)
live = 0
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        time.sleep(random.random() * 0.04)
        os._exit(0)
    live += 1
    if live >= 20:
        os.wait()
        live -= 1
while live:
    os.wait()
    live -= 1
`;
