import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './python.ts';

const PROGRAM = fileURLToPath(new URL('./pid_forge.py', import.meta.url));

/**
 * Gives the number of a process to another, synchronously: in the middle of what must not be interrupted. Only
 * in a private pid namespace; `pid_forge.py` says what the answers are.
 */
export interface PidForge {
  start(name: string, mark: string | null): number;
  orphan(name: string, mark: string | null): number;
  /** False where the number could not be had. */
  replace(name: string): boolean;
  look(name: string): { own: string; stranger: string | null };
  clear(name: string): void;
  stop(): Promise<void>;
}

export async function startPidForge(work: string): Promise<PidForge> {
  const [commands, answers] = [join(work, 'forge-commands'), join(work, 'forge-answers')];
  execFileSync('mkfifo', [commands, answers]);
  const child = spawn(PYTHON, [PROGRAM, commands, answers], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: '/usr/bin:/bin' },
  });
  const ended = once(child, 'exit');
  const [to, from] = [openSync(commands, 'w'), openSync(answers, 'r')];
  const ask = (command: { do: string; name: string; mark?: string | null }) => {
    writeSync(to, `${JSON.stringify(command)}\n`);
    return JSON.parse(readLine(from));
  };
  return {
    start: (name, mark) => ask({ do: 'start', name, mark }).pid,
    orphan: (name, mark) => ask({ do: 'orphan', name, mark }).pid,
    replace: (name) => ask({ do: 'replace', name }).taken,
    look: (name) => ask({ do: 'look', name }),
    clear: (name) => void ask({ do: 'clear', name }),
    stop: async () => {
      closeSync(to);
      closeSync(from);
      await ended;
    },
  };
}

function readLine(fd: number): string {
  const byte = Buffer.alloc(4096);
  let text = '';
  while (!text.endsWith('\n')) {
    const read = readSync(fd, byte);
    if (read === 0) throw new Error('the forge has ended');
    text += byte.toString('utf8', 0, read);
  }
  return text;
}
