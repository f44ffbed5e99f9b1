import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LaidRun, runAt } from './lay-run.ts';
import type { LionCall } from './lion.ts';
import { askData } from './machine.ts';
import { waitUntil } from './wait-until.ts';
import type { World } from './world.ts';

/** A run that `lion` was asked to start. */
export interface SubmittedRun extends LaidRun {
  readonly pid: number;
  readonly log: string;
}

/** `lion job submit OPTIONS -- ARGV`, which must be accepted. */
export async function submitCommand(
  world: World,
  argv: readonly string[],
  options: readonly string[] = [],
  call: Partial<LionCall> = {},
): Promise<SubmittedRun> {
  return runOf(world, await askData(world, ['job', 'submit', ...options, '--', ...argv], call));
}

/** The run that a handle names. */
export function runOf(world: World, handle: { run_id: string; pid: number; log: string }): SubmittedRun {
  const { run_id, pid, log } = handle;
  return { ...runAt(join(world.jobs, run_id), run_id), pid, log };
}

/** The record as it stands, in JavaScript's values. */
export function recordNow(run: LaidRun): Record<string, unknown> {
  return JSON.parse(run.text());
}

/** Waits for the end to be on the record. */
export function ended(run: LaidRun, withinMs = 20_000): Promise<Record<string, unknown>> {
  return waitUntil(
    `an end of ${run.runId}`,
    () => {
      const record = recordNow(run);
      return (record.finished_at ?? null) === null ? null : record;
    },
    withinMs,
  );
}

export function logOf(run: SubmittedRun): string {
  return readFileSync(run.log, 'utf8');
}

/** Waits for a file, and returns what is in it. */
export async function textIn(file: string, withinMs = 20_000): Promise<string> {
  await waitUntil(`the file ${file}`, () => existsSync(file), withinMs);
  return readFileSync(file, 'utf8');
}
