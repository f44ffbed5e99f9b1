import { type ChildProcess, spawn } from 'node:child_process';
import { LION_MAIN } from './lion.ts';
import type { World } from './world.ts';

export interface StartedLion {
  readonly child: ChildProcess;
  readonly end: Promise<{
    readonly code: number | null;
    readonly signal: NodeJS.Signals | null;
    readonly stdout: string;
    readonly stderr: string;
  }>;
}

/** Starts the built `lion` and leaves it to the test to signal it. */
export function startLion(world: World, args: readonly string[]): StartedLion {
  const child = spawn(process.execPath, [LION_MAIN, ...args], {
    env: world.env,
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const end = new Promise<Awaited<StartedLion['end']>>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, end };
}
