import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { waitUntil } from './wait-until.ts';
import type { World } from './world.ts';

export const LIOND_MAIN = fileURLToPath(new URL('../../dist/daemon/main.js', import.meta.url));

export interface SupervisorEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the signal to the end. */
  readonly ms: number;
}

/** A built `liond` in the foreground over a world's store. */
export interface RunningSupervisor {
  readonly pid: number;
  /** What it printed, for whoever looks on. */
  said(): string;
  complained(): string;
  isRunning(): boolean;
  /** Closes the pipe it prints to, as a reader does that goes away. */
  lookAway(): void;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<SupervisorEnd>;
  ended(): Promise<SupervisorEnd>;
}

export interface SupervisorStart {
  readonly args?: readonly string[];
  readonly main?: string;
  /** Run by this shell line instead, in which "$@" is the supervisor's command. */
  readonly through?: string;
  /** The user and group to run as; needs root. */
  readonly uid?: number | undefined;
}

/** Starts one and waits until it has gone over the store once. */
export async function startSupervisor(world: World, start: SupervisorStart = {}): Promise<RunningSupervisor> {
  const supervisor = spawnSupervisor(world, start);
  await waitUntil(
    `the supervisor to be up: ${supervisor.said()} ${supervisor.complained()}`,
    () => supervisor.said().includes('not ended') || !supervisor.isRunning(),
    30_000,
  );
  if (!supervisor.isRunning())
    throw new Error(`the supervisor ended: ${supervisor.said()} ${supervisor.complained()}`);
  if (start.through === undefined)
    await waitUntil('the supervisor to listen to signals', () =>
      [1, 2, 15].every((signal) => catches(supervisor.pid, signal)),
    );
  return supervisor;
}

/** Has a process put a handler on the signal of this number? */
function catches(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (BigInt(`0x${mask ?? '0'}`) & (1n << BigInt(signal - 1))) !== 0n;
}

/** Starts one; it ends with the world if not before. */
export function spawnSupervisor(world: World, start: SupervisorStart = {}): RunningSupervisor {
  const main = start.main ?? LIOND_MAIN;
  if (!existsSync(main)) throw new Error(`${main} is not there: run \`npm run build\` first`);
  const command = [process.execPath, main, ...(start.args ?? [])];
  const [program = '', ...rest] =
    start.through === undefined ? command : ['/bin/sh', '-c', start.through, 'sh', ...command];
  const child = spawn(program, rest, {
    env: world.env,
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(start.uid === undefined ? {} : { uid: start.uid, gid: start.uid }),
  });
  let [said, complained, signalled] = ['', '', performance.now()];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complained += text;
  });
  const ended = new Promise<SupervisorEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) =>
      resolve({ exitCode, signal, ms: performance.now() - signalled }),
    );
  });
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals): void => {
    signalled = performance.now();
    child.kill(name);
  };
  world.onDispose(async () => {
    if (isRunning()) child.kill('SIGKILL');
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    said: () => said,
    complained: () => complained,
    isRunning,
    lookAway: () => void child.stdout.destroy(),
    signal,
    end: (name) => {
      signal(name);
      return ended;
    },
    ended: () => ended,
  };
}

/** The text of its log. */
export function supervisorLog(world: World): string {
  return readFileSync(join(world.lionagiHome, 'mcp', 'liond', 'liond.log'), 'utf8');
}

export interface LoggedEvent {
  readonly event: string;
  readonly time: string;
  readonly run_id?: string;
  readonly [key: string]: unknown;
}

/** The events in its log, in order; of one kind where that is asked for. */
export function supervisorEvents(world: World, kind?: string): LoggedEvent[] {
  const events = supervisorLog(world)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LoggedEvent);
  return kind === undefined ? events : events.filter((each) => each.event === kind);
}
