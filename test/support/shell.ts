import { spawn } from 'node:child_process';
import { LION_MAIN } from './lion.ts';
import type { World } from './world.ts';

export interface ShellRun {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/**
 * Runs a shell line in a world; in it `lion` is the built program and "$@" are the arguments. Other programs
 * come from the system.
 */
export async function inShell(
  world: World,
  line: string,
  args: readonly string[] = [],
  main: string = LION_MAIN,
): Promise<ShellRun> {
  const script = `lion() { "$LION_NODE" "$LION_MAIN" "$@"; }\n${line}`;
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...args], {
    env: { ...world.env, LION_NODE: process.execPath, LION_MAIN: main },
    cwd: world.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => err.push(bytes));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { exitCode, stdout: Buffer.concat(out), stderr: Buffer.concat(err).toString('utf8') };
}
