import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PYTHON } from './python.ts';

/** A Python program that answers each line of JSON with one: {"ok": ANSWER} or {"failed": TEXT}. */
export interface PythonLines {
  readonly pid: number;
  /** Answered in the order asked; rejects with what Python said where it failed. */
  ask<T>(command: unknown): Promise<T>;
  /** kill -9, as a crash in the middle of things. */
  crash(): Promise<void>;
  /** Ends it after the commands it was given. */
  stop(): Promise<void>;
}

/** Starts the program, which says `{"ok": ...}` once when it is ready. */
export async function startPythonLines(programFile: string): Promise<PythonLines> {
  const child = spawn(PYTHON, [programFile], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
  });
  child.stdin.on('error', () => {}); // a crashed one no longer reads
  const waiting: ((line: string) => void)[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => waiting.shift()?.(line));
  lines.on('close', () => {
    for (const answer of waiting.splice(0)) answer('{"failed": "it ended before it answered"}');
  });
  const answered = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.push((line) => {
        const answer = JSON.parse(line) as { ok: T } | { failed: string };
        if ('failed' in answer) reject(new Error(`Python: ${answer.failed}`));
        else resolve(answer.ok);
      });
    });
  await answered();
  return {
    pid: child.pid ?? 0,
    ask: <T>(command: unknown) => {
      const answer = answered<T>();
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return answer;
    },
    crash: () => ended(child, () => child.kill('SIGKILL')),
    stop: () => ended(child, () => child.stdin.end()),
  };
}

async function ended(child: ChildProcess, end: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'close');
  end();
  await gone;
}
