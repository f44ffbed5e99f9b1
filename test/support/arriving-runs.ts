import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Identity, type LaidRun, layRun, runAt } from './lay-run.ts';
import { runIdOf } from './runs-of-all-sorts.ts';
import type { World } from './world.ts';

export interface ArrivedRun extends LaidRun {
  /** When its record was there, epoch milliseconds. */
  readonly arrivedMs: number;
}

/**
 * Submits so many runs of one gone process as a Python submitter does: mkdir, 2 ms, temporary file, rename, 3 ms. A
 * watch that is set on the new folder in between sees nothing.
 */
export async function arrive(
  world: World,
  count: number,
  identity: Identity,
  first = 0,
): Promise<ArrivedRun[]> {
  const runs: ArrivedRun[] = [];
  for (let n = first; n < first + count; n++) {
    const runId = runIdOf(n);
    const dir = join(world.jobs, runId);
    const text = layRun({ ...world, jobs: world.work }, runId, { ...identity, log: join(dir, 'log') }).text();
    mkdirSync(dir, { recursive: true });
    await sleep(2);
    const temporary = join(dir, `.job.json.${process.pid}.${n}.tmp`);
    writeFileSync(temporary, text);
    renameSync(temporary, join(dir, 'job.json'));
    runs.push({ ...runAt(dir, runId), arrivedMs: Date.now() });
    await sleep(3);
  }
  return runs;
}
