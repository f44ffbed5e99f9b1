import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JsonNumber } from './json-tree.ts';
import { LION_MAIN } from './lion.ts';
import { jsonObject, layEnded, layLive, secondsAgo } from './runs-of-all-sorts.ts';
import { LIOND_MAIN } from './supervisor.ts';
import type { World } from './world.ts';

/** Puts `lion` and `liond` on the PATH, with a home to go by and nothing else of ours. */
export function putOnPath(world: World): void {
  const program = (name: string, words: string): void => {
    writeFileSync(join(world.bin, name), `#!/bin/sh\n${words}\n`);
    chmodSync(join(world.bin, name), 0o755);
  };
  program('lion', `exec '${process.execPath}' '${LION_MAIN}' "$@"`);
  program('liond', `exec '${process.execPath}' '${LIOND_MAIN}' "$@"`);
  // What the documents take for commands of the reader's.
  for (const name of ['make', 'deploy', 'my-notifier']) program(name, 'exit 0');
  delete world.env.LIONAGI_HOME;
  world.env.PATH = `${world.bin}:${world.env.PATH}`;
}

/**
 * What the documents speak of: a run 97f334 that came out well, b2c3d4 that runs, 5e01c7 whose notice failed,
 * and a notifier that works. Called again, it lays them anew.
 */
export async function layDocumented(world: World): Promise<void> {
  const settings = join(world.home, '.lionagi', 'settings.yaml');
  mkdirSync(join(world.home, '.lionagi'), { recursive: true });
  writeFileSync(settings, 'notify:\n  on_terminal: my-notifier --run {run_id}\n');
  layEnded(world, '20260725T175010-97f334', 'completed', { label: 'nightly index' });
  const failed = {
    attempted: true,
    ok: false,
    exit_code: new JsonNumber('3'),
    error: null,
    failure_class: 'connection_failed',
    attempts: new JsonNumber('12'),
    owed: true,
    retry: jsonObject({ parked: jsonObject({ reason: 'attempts_exhausted', config_hash: null }) }),
  };
  layEnded(world, '20260725T175012-5e01c7', 'completed', {
    finished_at: secondsAgo(3600 * 30),
    notify_delivery: jsonObject(failed),
  });
  await layLive(world, '20260725T175015-b2c3d4');
}
