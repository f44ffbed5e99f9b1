import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';

export const LION_MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface LionCall {
  env: Record<string, string>;
  cwd: string;
  /** The user and group to run as; needs root. */
  uid?: number;
  /** A command that runs the rest of its arguments as a command; it stands before node. */
  through?: readonly string[];
  input?: string;
  withinMs?: number;
}

export interface LionRun {
  /** Null where a signal ended it. */
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** What stdout holds if it is one JSON value; undefined otherwise. Numbers as JavaScript reads them. */
  envelope: Envelope | undefined;
  /** From before the start of the process to its end. */
  ms: number;
}

export interface Envelope {
  ok: boolean;
  contract_version: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests reach into answers of every shape
  data: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  error: { kind: string; message: string; detail: any } | null;
}

const CALL_WITHIN_MS = 90_000;

/** Runs the built `lion` as a program would: its own process, nothing of our environment. */
export async function runLion(args: readonly string[], call: LionCall): Promise<LionRun> {
  if (!existsSync(LION_MAIN)) throw new Error(`${LION_MAIN} is not there: run \`npm run build\` first`);
  const [command = '', ...rest] = [...(call.through ?? []), process.execPath, LION_MAIN, ...args];
  const began = performance.now();
  const child = spawn(command, rest, {
    env: call.env,
    cwd: call.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(call.uid === undefined ? {} : { uid: call.uid, gid: call.uid }),
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes));
  child.stdin.on('error', () => {}); // it may end without reading its input
  child.stdin.end(call.input ?? '');
  const hang = setTimeout(() => child.kill('SIGKILL'), call.withinMs ?? CALL_WITHIN_MS);
  const [exitCode, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, by) => resolve([code, by]));
  }).finally(() => clearTimeout(hang));
  const text = Buffer.concat(stdout).toString('utf8');
  return {
    exitCode,
    signal,
    stdout: text,
    stderr: Buffer.concat(stderr).toString('utf8'),
    envelope: envelopeIn(text),
    ms: performance.now() - began,
  };
}

function envelopeIn(stdout: string): Envelope | undefined {
  try {
    return JSON.parse(stdout) as Envelope;
  } catch {
    return undefined;
  }
}
