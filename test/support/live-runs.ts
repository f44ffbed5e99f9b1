/** Processes that live in unusual ways, for records to point at. `stop` ends each and whatever it started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { StartedProcess } from './processes.ts';
import { PYTHON } from './python.ts';
import { startTimeOf } from './start-time.ts';
import { waitUntil } from './wait-until.ts';

export interface Living {
  /** The run id that the process carries in its environment; none where null. */
  mark: string | null;
  /** The user it runs as; ours where it is left out. */
  uid?: number;
}

const MARK = 'LIONAGI_MCP_JOB_RUN_ID';
const SLEEP = ['sleep', '3600'];

/** A live `sleep` in a session of its own. */
export function startSleep(living: Living): Promise<StartedProcess> {
  return startCommand(SLEEP, living);
}

/** The same, stopped by a signal: there, and doing nothing. */
export async function startStopped(living: Living): Promise<StartedProcess> {
  const started = await startSleep(living);
  await stopBySignal(started.pid);
  return started;
}

/** Its environment can be read by root alone, whatever its user (PR_SET_DUMPABLE 0). */
export async function startUndumpable(living: Living): Promise<StartedProcess> {
  const started = await startCommand([PYTHON, '-c', UNDUMPABLE], living);
  await waitUntil('the process to be undumpable', () => isRootOnly(started.pid));
  return started;
}

/** Its main thread has exited and another lives on: the number shows a zombie. */
export async function startLeaderless(living: Living): Promise<StartedProcess> {
  const started = await startCommand([PYTHON, '-c', LEADERLESS], living);
  await waitUntil('the main thread to exit', () => stateOf(started.pid) === 'Z');
  return started;
}

/** It executes another program again and again, keeping its number, start time and environment. */
export function startExecuting(living: Living): Promise<StartedProcess> {
  const again = 'exec sh -c "$0" "$0"';
  return startCommand(['sh', '-c', again, again], living);
}

/** It has a second thread; its main thread lives. */
export async function startThreaded(living: Living): Promise<StartedProcess> {
  const started = await startCommand([PYTHON, '-c', THREADED], living);
  await waitUntil('the second thread', () => readdirSync(`/proc/${started.pid}/task`).length > 1);
  return started;
}

/** It calls itself by this name of at most 15 bytes. */
export async function startNamed(name: string, living: Living): Promise<StartedProcess> {
  const started = await startCommand([PYTHON, '-c', NAMED, name], living);
  await waitUntil('the process to have its name', () => nameOf(started.pid) === name);
  return started;
}

/** The last entry of its environment, the mark, is not closed by a NUL: the program wrote over it. */
export async function startWithoutLastNul(living: Living & { mark: string }): Promise<StartedProcess> {
  const started = await startCommand([PYTHON, '-c', WITHOUT_LAST_NUL, living.mark.slice(-1)], {
    ...living,
    mark: living.mark.slice(0, -1),
  });
  const environment = () => readFileSync(`/proc/${started.pid}/environ`);
  await waitUntil('the last NUL to be written over', () => environment().at(-1) !== 0);
  return started;
}

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

export interface Nesting {
  /** The number it has where it lives; the next free one where null. */
  number: number | null;
  /** It is started into a further namespace: the number is then the one its starter knows it by. */
  deeper?: boolean;
  undumpable?: boolean;
}

export interface Nested extends StartedProcess {
  /** What its starter, in the inner namespace, wrote down. */
  recordedPid: number;
}

/** A live process in a pid namespace below ours, whose `pid` here and number there differ; needs root. */
export async function startNested(living: Living, nesting: Nesting): Promise<Nested> {
  const command = nesting.undumpable ? [PYTHON, '-c', UNDUMPABLE] : SLEEP;
  const asked = { command, env: markedEnv(living.mark), uid: living.uid ?? 0, ...nesting };
  const child = spawn(PYTHON, ['-c', NESTED, JSON.stringify(asked)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: BARE_ENV,
  });
  const { init, number } = JSON.parse(await firstLineOf(child)) as { init: number; number: number };
  const pid = await waitUntil('the nested process', () => childOf(init));
  await waitUntil('the nested process to be itself', () => nameOf(pid) === command[0]?.replace(/.*\//, ''));
  if (nesting.undumpable) await waitUntil('it to be undumpable', () => isRootOnly(pid));
  const stop = async () => {
    child.stdin?.end();
    await ended(child);
  };
  return { pid, pgid: pid, members: [], recordedPid: number, ...startTimeOf(pid), stop };
}

/** A number that nobody holds now and that is not given out again soon. */
export function freeNumber(): number {
  const last = Number(readFileSync('/proc/sys/kernel/ns_last_pid', 'utf8'));
  for (let number = last - 20; number > 300; number -= 1) if (!isTaken(number)) return number;
  throw new Error('no free process number');
}

export async function stopBySignal(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await waitUntil('the process to be stopped', () => stateOf(pid) === 'T');
}

export function stateOf(pid: number): string | undefined {
  return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

const BARE_ENV = { PATH: '/usr/bin:/bin' };

/** The mark comes last. */
function markedEnv(mark: string | null): Record<string, string> {
  return mark === null ? BARE_ENV : { ...BARE_ENV, [MARK]: mark };
}

async function startCommand(command: readonly string[], living: Living): Promise<StartedProcess> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    detached: true,
    stdio: 'ignore',
    env: markedEnv(living.mark),
    ...(living.uid === undefined ? {} : { uid: living.uid, gid: living.uid }),
  });
  if (child.pid === undefined) await once(child, 'spawn');
  const pid = child.pid ?? 0;
  return { pid, pgid: pid, members: [], ...startTimeOf(pid), stop: () => ended(child, 'SIGKILL') };
}

async function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  if (signal !== undefined) child.kill(signal);
  await gone;
}

function firstLineOf(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the starter ended with ${code}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('\n')) resolve(printed.split('\n')[0] ?? '');
    });
  });
}

function childOf(parent: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .find((pid) => fieldOf(pid, 'PPid') === String(parent));
}

function fieldOf(pid: number, field: string): string | undefined {
  try {
    return new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined; // gone meanwhile
  }
}

function nameOf(pid: number): string | undefined {
  return fieldOf(pid, 'Name');
}

/** The kernel gives the files of an undumpable process to root. */
function isRootOnly(pid: number): boolean {
  return statSync(`/proc/${pid}/environ`).uid === 0;
}

function isTaken(number: number): boolean {
  try {
    process.kill(number, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

const UNDUMPABLE = `
import ctypes, signal
ctypes.CDLL(None).prctl(4, 0)
signal.pause()
`;

const LEADERLESS = `
import ctypes, platform, threading
threading.Thread(target=threading.Event().wait).start()
exit_number = {"x86_64": 60, "aarch64": 93}[platform.machine()]
ctypes.CDLL(None).syscall(exit_number, 0)
`;

const THREADED = `
import signal, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pause()
`;

const NAMED = `
import ctypes, signal, sys
ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
signal.pause()
`;

const WITHOUT_LAST_NUL = `
import ctypes, signal, sys
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
env_end = int(fields[48])
ctypes.memset(env_end - 1, ord(sys.argv[1]), 1)
signal.pause()
`;

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

/** Prints {init, number} and lives until its input ends; the namespace ends with its init. */
const NESTED = `
import ctypes, json, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)

def new_namespace():
    if libc.unshare(0x20000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")

asked = json.loads(sys.argv[1])
told, tell = os.pipe()
new_namespace()
init = os.fork()
if init == 0:
    libc.prctl(1, signal.SIGKILL)
    if asked.get("deeper"):
        new_namespace()
    if asked["number"]:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(asked["number"] - 1))
    run = os.fork()
    if run == 0:
        os.setsid()
        nowhere = os.open("/dev/null", os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.setgroups([])
        os.setresgid(*[asked["uid"]] * 3)
        os.setresuid(*[asked["uid"]] * 3)
        os.execvpe(asked["command"][0], asked["command"], asked["env"])
    os.write(tell, json.dumps(run).encode() + b"\\n")
    while True:
        signal.pause()
number = json.loads(os.fdopen(told).readline())
if asked["number"] and number != asked["number"]:
    raise SystemExit("the number %s was taken, it got %s" % (asked["number"], number))
print(json.dumps({"init": init, "number": number}), flush=True)
sys.stdin.read()
os.kill(init, signal.SIGKILL)
os.waitpid(init, 0)
`;
