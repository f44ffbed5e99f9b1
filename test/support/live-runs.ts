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
export const SLEEP = ['sleep', '3600'];

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

export async function stopBySignal(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await waitUntil('the process to be stopped', () => stateOf(pid) === 'T');
}

export function stateOf(pid: number): string | undefined {
  return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

export const BARE_ENV = { PATH: '/usr/bin:/bin' };

/** The mark comes last. */
export function markedEnv(mark: string | null): Record<string, string> {
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

export async function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  if (signal !== undefined) child.kill(signal);
  await gone;
}

export function firstLineOf(child: ChildProcess): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the starter ended with ${code}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes('\n')) resolve(printed.split('\n')[0] ?? '');
    });
  });
}

export function fieldOf(pid: number, field: string): string | undefined {
  try {
    return new RegExp(`^${field}:\\s+(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined; // gone meanwhile
  }
}

export function nameOf(pid: number): string | undefined {
  return fieldOf(pid, 'Name');
}

/** The kernel gives the files of an undumpable process to root. */
export function isRootOnly(pid: number): boolean {
  return statSync(`/proc/${pid}/environ`).uid === 0;
}

export const UNDUMPABLE = `
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
