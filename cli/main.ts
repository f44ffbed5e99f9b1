/**
 * The only module of `lion` that listens to the process, writes to its streams or sets its exit status.
 * Every other module is loaded from here as it is needed: an installation with a part missing exits 78 and not
 * with a stack trace, and a verb pays for nothing it does not use.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Progress } from './render/progress.ts';
import type { Screen } from './render/screen.ts';
import type { Call, Follow, Hold } from './verb.ts';

/** ADR-0106 D8: the environment cannot run the command, nothing was executed. */
const EX_CONFIG = 78;
/** What was to be said could not be written. */
const EX_IOERR = 74;

type Parts = typeof import('./machine-flag.ts') &
  typeof import('./program.ts') &
  typeof import('./answer.ts') &
  typeof import('./render/screen.ts') &
  typeof import('./render/progress.ts');

const lifetime = new AbortController();
let signalled: 'SIGINT' | 'SIGTERM' | null = null;
/** The program this call became: signals are its own affair. */
let successor: ChildProcess | null = null;
/** What the terminal must be brought back from before anything ends this call. */
let held: Hold | null = null;
let progress: Progress | null = null;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (successor !== null) return void successor.kill(signal);
    // The first one lets what was learned be said; the second does not wait for that.
    if (signalled !== null) {
      letGo();
      process.exit(exitStatusOf(signal));
    }
    signalled = signal;
    lifetime.abort();
  });
}

// Said where it is written.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

void run().then((exitCode) => process.exit(exitCode));

async function run(): Promise<number> {
  const parts = await load();
  if (typeof parts === 'string') {
    await write(process.stderr, `lion: this installation cannot run the command: ${parts}\n`);
    return EX_CONFIG;
  }
  const { machine, args } = parts.takeMachineFlag(process.argv.slice(2));
  if (!machine && process.stderr.isTTY === true && process.env.TERM !== 'dumb') {
    const { stderr } = process;
    progress = parts.progressLine({
      write: (text) => stderr.write(text),
      columns: () => stderr.columns || 80,
    });
  }
  const result = await parts
    .dispatch(args, callOf(machine))
    .catch((error: unknown) => ({ kind: 'error' as const, error }));
  const output = machine
    ? parts.machineOutput(result)
    : await parts.humanOutput(result, parts.screenOf(process.stdout, process.env));
  await write(process.stderr, output.stderr);
  const written = await write(process.stdout, output.stdout);
  if (output.become !== undefined && signalled === null) return await become(output.become);
  const screen = (): Screen => parts.screenOf(process.stdout, process.env);
  const exitCode =
    output.follow === undefined
      ? output.exitCode
      : await show(output.follow, screen).catch(async (error: unknown) => {
          const fault = await parts.humanOutput({ kind: 'error', error }, screen());
          await write(process.stderr, fault.stderr);
          return fault.exitCode;
        });
  if (signalled !== null && !machine) return exitStatusOf(signalled);
  return written ? exitCode : EX_IOERR;
}

async function load(): Promise<Parts | string> {
  try {
    return {
      ...(await import('./machine-flag.ts')),
      ...(await import('./program.ts')),
      ...(await import('./answer.ts')),
      ...(await import('./render/screen.ts')),
      ...(await import('./render/progress.ts')),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function callOf(machine: boolean): Call {
  return {
    machine,
    signal: lifetime.signal,
    tell: (line) => write(process.stderr, `${line}\n`),
    progress: (text) => progress?.show(text),
    program: { node: process.execPath, main: join(import.meta.dirname, 'main.js') },
    env: process.env,
    cwd: ownDirectory,
    async open() {
      const { openEngine } = await import('../shared/engine.ts');
      const { engine, configFault } = await openEngine(process.env, ownDirectory(), lifetime.signal);
      if (configFault !== null) await write(process.stderr, `lion: ${configFault}; going by the defaults\n`);
      return engine;
    },
  };
}

/** A directory that was removed while we stand in it has no path the system would tell; the shell may know one. */
function ownDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return process.env.PWD || '/';
  }
}

async function show(follow: Follow, screen: () => Screen): Promise<number> {
  const chunks = follow(screen);
  const isShared = process.stdout.isTTY && process.stderr.isTTY;
  let isWritten = true;
  let isMidLine = false;
  for (;;) {
    const next = await chunks.next(isWritten);
    if (next.done) return next.value;
    const { to, text, holds } = next.value;
    if (holds !== undefined) hold(holds);
    // A log whose last line has no end, and what is said of it, are seen on one terminal.
    const separate = to === 'stderr' && isMidLine && isShared ? '\n' : '';
    isWritten = await write(to === 'stdout' ? process.stdout : process.stderr, separate + text);
    if (text !== '') isMidLine = to === 'stdout' && holds === undefined && !text.endsWith('\n');
  }
}

/** A terminal that was taken is given back before this call stops, and taken again when it goes on. */
function hold(holds: Hold | null): void {
  if (held === null && holds !== null) {
    process.on('SIGTSTP', () => {
      letGo();
      process.kill(process.pid, 'SIGSTOP');
    });
    process.on('SIGCONT', () => process.stdout.write(held?.enter ?? ''));
    for (const signal of ['SIGHUP', 'SIGQUIT'] as const) {
      process.once(signal, () => {
        letGo();
        process.kill(process.pid, signal);
      });
    }
  }
  held = holds;
}

function letGo(): void {
  if (held !== null) process.stdout.write(held.leave);
}

/**
 * In a session of its own, or a Ctrl-C would reach it twice, from the terminal and from here, and the second one
 * tells it not to wait.
 */
function become([program, ...args]: readonly [string, ...string[]]): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', detached: true });
  successor = child;
  process.on('SIGHUP', () => child.kill('SIGHUP'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}

/**
 * Returns when the stream has taken it all: an exit before that cuts a slow pipe at 64 KB. False where it did
 * not take it; a reader that has had enough (`| head`) needs no words about that.
 */
function write(stream: NodeJS.WriteStream, text: string): Promise<boolean> {
  progress?.clear();
  if (text === '') return Promise.resolve(true);
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(!error));
  });
}

function exitStatusOf(signal: 'SIGINT' | 'SIGTERM'): number {
  return signal === 'SIGINT' ? 130 : 143;
}
