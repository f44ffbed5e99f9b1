/** Processes that have exited and are not collected. `stop` collects each, and ends what it left. */
import { spawn } from 'node:child_process';
import { BARE_ENV, ended, firstLineOf, markedEnv, nameOf, stateOf } from './live-runs.ts';
import type { StartedProcess } from './processes.ts';
import { PYTHON } from './python.ts';
import { startTimeOf } from './start-time.ts';
import { waitUntil } from './wait-until.ts';

/** A leader that has exited and is not collected, and what it started, which lives on. */
export async function startZombieWithChildren(
  mark: string,
  children: number,
): Promise<StartedProcess & { pid: number }> {
  const child = spawn(PYTHON, ['-c', LEFT_CHILDREN, JSON.stringify(markedEnv(mark)), String(children)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: BARE_ENV,
  });
  const { pid, members } = JSON.parse(await firstLineOf(child)) as { pid: number; members: number[] };
  await waitUntil('the leader to be a zombie', () => stateOf(pid) === 'Z');
  const stop = async () => {
    child.stdin?.end();
    await ended(child);
  };
  return { pid, pgid: pid, members, ...startTimeOf(pid), stop };
}

/** A zombie that called itself by this name while it lived. */
export async function startNamedZombie(name: string, mark: string): Promise<StartedProcess> {
  const child = spawn(PYTHON, ['-c', NAMED_ZOMBIE, name], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: markedEnv(mark),
  });
  const pid = Number(await firstLineOf(child));
  await waitUntil('the process to be a zombie', () => stateOf(pid) === 'Z' && nameOf(pid) === name);
  const stop = async () => {
    child.stdin?.end();
    await ended(child);
  };
  return { pid, pgid: pid, members: [], ...startTimeOf(pid), stop };
}

/** Prints {pid, members}; ends what is left when its input ends. */
const LEFT_CHILDREN = `
import json, os, signal, subprocess, sys
told, tell = os.pipe()
leader = os.fork()
if leader == 0:
    os.setsid()
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "env": json.loads(sys.argv[1])}
    members = [subprocess.Popen(["sleep", "3600"], **quiet).pid for _ in range(int(sys.argv[2]))]
    os.write(tell, (json.dumps(members) + "\\n").encode())
    os._exit(0)
members = json.loads(os.fdopen(told).readline())
print(json.dumps({"pid": leader, "members": members}), flush=True)
sys.stdin.read()
for member in members:
    try:
        os.kill(member, signal.SIGKILL)
    except ProcessLookupError:
        pass
os.waitpid(leader, 0)
`;

const NAMED_ZOMBIE = `
import ctypes, os, sys
pid = os.fork()
if pid == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
    os._exit(0)
print(pid, flush=True)
sys.stdin.read()
os.waitpid(pid, 0)
`;
