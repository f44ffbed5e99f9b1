import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { PYTHON } from './python.ts';
import { type StartTime, startTimeOf } from './start-time.ts';
import { waitUntil } from './wait-until.ts';

/** A real process for a record to point at. `stop` ends it and whatever was started for it. */
export interface StartedProcess extends StartTime {
  pid: number;
  pgid: number;
  /** The live members of its group, where it was started with some. */
  members: number[];
  stop: () => Promise<void>;
}

/** One that tells what became of it, or of the members of its group: `alive`, a signal's name, or `ended`. */
export interface WatchedProcess extends StartedProcess {
  fates: () => string[];
}

const MARK = 'LIONAGI_MCP_JOB_RUN_ID';
const BARE_ENV = { PATH: '/usr/bin:/bin' };

/** A live `sleep` in a session of its own, carrying the mark of a run or none; as this user, or ours. */
export async function startSleeper(mark: string | null, uid?: number): Promise<WatchedProcess> {
  const child = spawn('sleep', ['3600'], {
    detached: true,
    stdio: 'ignore',
    env: markedEnv(mark),
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const pid = await pidOf(child);
  const fate = () => child.signalCode ?? (child.exitCode === null ? 'alive' : 'ended');
  const stop = () => endChild(child);
  return { pid, pgid: pid, members: [], ...startTimeOf(pid), fates: () => [fate()], stop };
}

/** The same, by a parent that does not collect it: when it ends it stays as a zombie until it is stopped. */
export async function startUncollected(mark: string | null): Promise<WatchedProcess> {
  const holder = await startHolder(UNCOLLECTED_HOLDER, [JSON.stringify(markedEnv(mark))]);
  return { ...holder, fates: () => [fateOf(holder.pid)], stop: holder.end };
}

/** An exited process that its parent, which is not this one, does not collect. */
export async function startZombie(mark: string | null): Promise<WatchedProcess> {
  const holder = await startHolder(ZOMBIE_HOLDER, [JSON.stringify(markedEnv(mark))]);
  return { ...holder, members: [], fates: () => [], stop: holder.end };
}

/** A session leader that started members in its group, then exited and was collected. */
export async function startGroupSurvivors(marks: readonly (string | null)[]): Promise<WatchedProcess> {
  const holder = await startHolder(SURVIVORS_HOLDER, [JSON.stringify(marks.map(markedEnv))]);
  const stop = async () => {
    for (const pid of holder.members) endPid(pid);
    await holder.end();
    await waitUntil('the members to be gone', () => holder.members.every((pid) => !isThere(pid)));
  };
  return { ...holder, fates: () => holder.members.map(fateOf), stop };
}

export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** As anyone sees it who is not its parent; a zombie has ended. */
function fateOf(pid: number): string {
  try {
    const state = /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
    return 'ZX'.includes(state) ? 'ended' : 'alive';
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return 'ended';
  }
}

interface Holder extends StartTime {
  pid: number;
  pgid: number;
  members: number[];
  end: () => Promise<void>;
}

/** The program prints {pid, members} while the pid is there to be looked at, goes on at the first line of
 * its input, prints a line when the pid has become what was asked for, and ends with its input. */
async function startHolder(program: string, args: readonly string[]): Promise<Holder> {
  const child = spawn(PYTHON, ['-c', program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: BARE_ENV,
  });
  await pidOf(child);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const lines = (count: number) =>
    waitUntil(`line ${count} of the holder`, () => printed.split('\n').length > count);
  await lines(1);
  const { pid, members } = JSON.parse(printed.split('\n')[0] ?? '') as { pid: number; members: number[] };
  const started = startTimeOf(pid);
  child.stdin.write('go\n');
  await lines(2);
  const end = async () => {
    child.stdin.end();
    await endChild(child);
  };
  return { pid, pgid: pid, members, ...started, end };
}

const ZOMBIE_HOLDER = `
import json, os, sys
go, ready = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    os.close(ready)
    os.read(go, 1)
    os.execve("/bin/true", ["true"], json.loads(sys.argv[1]))
os.close(go)
print(json.dumps({"pid": pid, "members": []}), flush=True)
sys.stdin.readline()
os.close(ready)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
print("zombie", flush=True)
sys.stdin.read()
`;

const UNCOLLECTED_HOLDER = `
import json, os, signal, sys
pid = os.fork()
if pid == 0:
    os.setsid()
    nowhere = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.execve("/bin/sleep", ["sleep", "3600"], json.loads(sys.argv[1]))
print(json.dumps({"pid": pid, "members": []}), flush=True)
sys.stdin.readline()
print("started", flush=True)
sys.stdin.read()
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
`;

const SURVIVORS_HOLDER = `
import json, os, subprocess, sys
told, tell = os.pipe()
go, ready = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    os.close(ready)
    members = [subprocess.Popen(["sleep", "3600"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid
               for env in json.loads(sys.argv[1])]
    os.write(tell, (json.dumps(members) + "\\n").encode())
    os.read(go, 1)
    os._exit(0)
os.close(go)
members = json.loads(os.fdopen(told).readline())
print(json.dumps({"pid": pid, "members": members}), flush=True)
sys.stdin.readline()
os.close(ready)
os.waitpid(pid, 0)
print("collected", flush=True)
sys.stdin.read()
`;

function markedEnv(mark: string | null): Record<string, string> {
  return mark === null ? BARE_ENV : { ...BARE_ENV, [MARK]: mark };
}

async function pidOf(child: ChildProcess): Promise<number> {
  if (child.pid === undefined) await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('a started child without a pid');
  return child.pid;
}

export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

export function endPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
