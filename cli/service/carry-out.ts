import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { errnoOf, hasCode } from '../../shared/errno.ts';
import { sleep } from '../../shared/time/sleep.ts';
import { type Command, commandText, type Step } from './plan.ts';
import { faultOf, type RunCommand } from './run-command.ts';

/** How things are done: by `run`, and undone by `undo`, which an interrupt of the call does not reach. */
export interface Hands {
  readonly run: RunCommand;
  readonly undo: RunCommand;
  readonly signal: AbortSignal;
}

/**
 * Does the steps in their order. Should one fail, it and those before are undone, the last one first.
 * @throws LionError `unavailable` naming the fault, and what could not be undone.
 */
export async function carryOut(steps: readonly Step[], hands: Hands): Promise<void> {
  for (const [at, step] of steps.entries()) {
    try {
      await doStep(step, hands);
    } catch (error) {
      const fault = faultIn(error);
      const left = await undoSteps(steps.slice(0, at + 1), hands.undo);
      const cure = 'cure' in step && step.cure !== undefined ? `; ${step.cure}` : '';
      throw new LionError('unavailable', `${fault}${left}${cure}`);
    }
  }
}

async function doStep(step: Step, hands: Hands): Promise<void> {
  switch (step.kind) {
    case 'write':
      return publish(step.path, step.content);
    case 'remove':
      return rmSync(step.path, { force: true });
    case 'run':
      return await runStep(step, hands);
    case 'check':
      return await checkStep(step, hands);
  }
}

async function runStep(step: Extract<Step, { kind: 'run' }>, { run, signal }: Hands): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const result = await run(step.command, step.timeoutMs);
    if (result.exitCode === 0 || step.fine?.includes(result.exitCode)) return;
    const passes = step.again?.exitCode === result.exitCode && attempt <= step.again.times;
    if (!passes) throw new LionError('unavailable', faultOf(step.command, result));
    await sleep(step.again.pauseMs, signal);
  }
}

const LOOK_EVERY_MS = 200;

async function checkStep(step: Extract<Step, { kind: 'check' }>, { run, signal }: Hands): Promise<void> {
  const deadline = performance.now() + step.withinMs;
  for (;;) {
    const { exitCode, stdout } = await run(step.command, step.timeoutMs);
    if (step.holds(exitCode, stdout)) return;
    if (performance.now() >= deadline)
      throw new LionError('unavailable', `${step.what}: not so, as ${commandText(step.command)} tells`);
    await sleep(LOOK_EVERY_MS, signal);
  }
}

/** In words, what could not be undone; empty: all was, or there was nothing. */
async function undoSteps(steps: readonly Step[], run: RunCommand): Promise<string> {
  const faults: string[] = [];
  const attempt = async (work: () => Promise<void> | void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      faults.push(faultIn(error));
    }
  };
  let undone = false;
  for (const step of [...steps].reverse())
    for (const work of undoOf(step, run)) {
      undone = true;
      await attempt(work);
    }
  if (faults.length > 0) return `; and this could not be undone: ${faults.join('; ')}`;
  return undone ? '; what had been done was undone' : '';
}

function undoOf(step: Step, run: RunCommand): (() => Promise<void> | void)[] {
  const runs = (command: Command) => async (): Promise<void> => {
    const result = await run(command, UNDO_TIMEOUT_MS);
    if (result.exitCode !== 0) throw new LionError('unavailable', faultOf(command, result));
  };
  if (step.kind === 'remove') return [];
  if (step.kind !== 'write') return step.undo === undefined ? [] : [runs(step.undo)];
  const { path, before } = step;
  const restore = (): void => (before === null ? removeIfThere(path) : publish(path, before));
  return [restore, ...step.afterUndo.map(runs)];
}

/** Where a directory of its path is a file it cannot have been written. */
function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR')) throw error;
  }
}

const UNDO_TIMEOUT_MS = 60_000;

/** Whole or not at all, also after a power cut. */
function publish(path: string, content: string): void {
  const temporary = `${path}.lion-${process.pid}.tmp`;
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(temporary, content, { mode: 0o644, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function faultIn(error: unknown): string {
  if (error instanceof LionError) return error.message;
  const code = errnoOf(error);
  if (code === null) throw error;
  const path = error instanceof Error && 'path' in error ? ` ${String(error.path)}` : '';
  return `a file cannot be changed:${path}: ${code}`;
}
