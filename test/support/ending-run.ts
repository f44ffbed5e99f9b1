import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LaidRun } from './lay-run.ts';
import { identityOf, layRun } from './lay-run.ts';
import { LION_MAIN } from './lion.ts';
import { newRunId } from './new-run-id.ts';
import { PYTHON } from './python.ts';
import { startTimeOf } from './start-time.ts';
import type { World } from './world.ts';

const PROGRAM = fileURLToPath(new URL('./ending_run.py', import.meta.url));

/** A live run that writes its own end, and its record. */
export interface EndingRun extends LaidRun {
  /** Tells it to end by itself in so many milliseconds. */
  endIn(ms: number): void;
  ended: Promise<unknown>;
}

/** The end is written by `lion hook terminal`, or by Python with the discipline of its engine. */
export async function startEndingRun(world: World, writer: 'hook' | 'python'): Promise<EndingRun> {
  const runId = newRunId();
  const laid = layRun(world, runId);
  const hook = [process.execPath, LION_MAIN, 'hook', 'terminal', '--run-id', runId, '--exit-code', '0'];
  const asked = { run_dir: laid.dir, hook: writer === 'hook' ? hook : null };
  const child = spawn(PYTHON, [PROGRAM, JSON.stringify(asked)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...world.env, LIONAGI_MCP_JOB_RUN_ID: runId },
  });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => {}); // it may have ended before it is told to
  await Promise.race([once(child.stdout, 'data'), ended]);
  const pid = child.pid ?? 0;
  const run = layRun(world, runId, identityOf({ pid, pgid: pid, ...startTimeOf(pid) }));
  return { ...run, endIn: (ms) => void child.stdin.write(`${ms / 1000}\n`), ended };
}
