import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleInto } from './bundle.ts';

/**
 * Runs a program of ours (a file of `test/support`) as the first process of a pid namespace of its own and
 * returns what it printed. Everything in there ends with it.
 */
export async function runInPidNamespace(file: string, args: readonly string[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'lion-inside-'));
  try {
    const program = await bundleInto(directory, new URL(`./${file}`, import.meta.url));
    return await printedBy(['-p', '-f', '--kill-child', '--mount-proc', process.execPath, program, ...args]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function printedBy(args: readonly string[]): Promise<string> {
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`the program inside ended with ${code}: ${err.slice(-3000)}`);
  return out;
}
