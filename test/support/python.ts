import { spawn } from 'node:child_process';

export const PYTHON = '/usr/bin/python3';

export interface PythonRun {
  args?: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  input?: string;
}

/** Runs a Python program to its end and returns what it printed; a failure carries its error stream. */
export async function runPython(program: string, run: PythonRun = {}): Promise<string> {
  const child = spawn(PYTHON, ['-c', program, ...(run.args ?? [])], {
    env: run.env ?? { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
    ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdin.end(run.input ?? '');
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`python3 ended with ${code}: ${err.slice(-2000)}`);
  return out;
}
