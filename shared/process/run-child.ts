import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { errnoOf } from '../errno.ts';

export interface ChildRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text for the child's standard input; null closes it. */
  readonly stdin: string | null;
  readonly timeoutMs: number;
  /** Of each stream. */
  readonly maxOutputBytes: number;
  /** What is done about more: the child is ended (the default), or it goes on and the rest is dropped. */
  readonly overflow?: 'end' | 'drop';
  readonly signal: AbortSignal;
}

export type ChildResult =
  | {
      readonly kind: 'exited';
      /** As Python tells it: a signal is its number, negative. */
      readonly exitCode: number;
      readonly stdout: Buffer;
      readonly stderr: Buffer;
    }
  /** The whole group was ended; `overflow` is too much output. */
  | { readonly kind: 'ended'; readonly why: 'timeout' | 'overflow' | 'aborted' }
  | { readonly kind: 'not_started'; readonly error: unknown };

/** A helper that keeps the pipe open does not hold up a command that has exited. */
const DRAIN_MS = 100;

/**
 * Runs a program in a session and group of its own, with no shell. On time-out, abort or too much output the
 * whole group is ended; nothing is signalled once the leader has been collected, when its number may be
 * another's. Never throws.
 */
export function runChild(request: ChildRequest): Promise<ChildResult> {
  let child: ChildProcess;
  try {
    child = spawn(request.program, request.args, {
      cwd: request.cwd,
      env: request.env as NodeJS.ProcessEnv,
      stdio: [request.stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
  } catch (error) {
    return Promise.resolve({ kind: 'not_started', error });
  }
  return new Promise((resolve) => {
    const settle = (result: ChildResult): void => {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', onAbort);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      resolve(result);
    };
    const end = (why: 'timeout' | 'overflow' | 'aborted'): void => {
      endGroup(child);
      settle({ kind: 'ended', why });
    };
    const onAbort = (): void => end('aborted');
    // After a freeze the timer may come before an exit that is long there: that is seen within a turn.
    const onTimeout = (): void => {
      if (!hasExited(child)) end('timeout');
    };
    const timer = setTimeout(() => setImmediate(onTimeout), request.timeoutMs);
    request.signal.addEventListener('abort', onAbort);
    const onOverflow = (): void => {
      if (request.overflow !== 'drop') end('overflow');
    };
    const stdout = collect(child.stdout, request.maxOutputBytes, onOverflow);
    const stderr = collect(child.stderr, request.maxOutputBytes, onOverflow);
    child.on('error', (error) => {
      if (child.pid === undefined) settle({ kind: 'not_started', error });
    });
    child.on('exit', (code, signal) => {
      const finish = (): void =>
        settle({
          kind: 'exited',
          exitCode: code ?? signalNumber(signal),
          stdout: stdout(),
          stderr: stderr(),
        });
      child.on('close', finish);
      setTimeout(finish, DRAIN_MS).unref();
    });
    feed(child, request.stdin);
    if (request.signal.aborted) onAbort();
  });
}

/** A child that does not read its input closes the pipe on us: that is its affair. */
function feed(child: ChildProcess, text: string | null): void {
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(text ?? '');
}

function collect(stream: Readable | null, maxBytes: number, onOverflow: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) onOverflow();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}

function endGroup(child: ChildProcess): void {
  if (child.pid === undefined || hasExited(child)) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: it ended by itself just now. EPERM (macOS): only zombies are left.
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error;
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : -constants.signals[signal];
}
