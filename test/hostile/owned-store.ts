import { chmodSync, chownSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json } from '../support/json-tree.ts';
import { type LaidRun, layRun } from '../support/lay-run.ts';
import type { World } from '../support/world.ts';

/**
 * A run of this user's that everybody may end: what keeps a judge from ending it is then the judgement and not
 * the mode of a file.
 */
export function layOwned(
  world: World,
  runId: string,
  members: Readonly<Record<string, Json>>,
  uid: number,
): LaidRun {
  const run = layRun(world, runId, members);
  const lock = join(run.dir, 'job.lock');
  writeFileSync(lock, '');
  for (const file of [run.recordFile, lock]) chmodSync(file, 0o666);
  for (const directory of [dirname(world.jobs), world.jobs, run.dir]) chmodSync(directory, 0o777);
  for (const path of [run.dir, run.recordFile, lock]) chownSync(path, uid, uid);
  return run;
}

/** The names in a run's directory, but for the lock, whose file stays where a writer has been. */
export function namesIn(run: LaidRun): string[] {
  return readdirSync(run.dir)
    .filter((name) => name !== 'job.lock')
    .sort();
}
