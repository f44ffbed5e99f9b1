import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from './wait-until.ts';
import type { World } from './world.ts';

/**
 * A file system of a few pages, mounted in the private mount namespace of a process that only sleeps, and
 * reached through that process's root: nothing is mounted for anyone else, and it is gone with the process.
 * Needs what `whyNoMountNamespace` asks for.
 */
export async function mountSmallDisk(world: World, bytes: number): Promise<string> {
  const at = join(world.root, 'small-disk');
  mkdirSync(at);
  const script = 'mount -t tmpfs -o size="$2" tmpfs "$1" && : > "$1/mounted" && exec sleep 3600';
  const holder = spawn(
    'unshare',
    ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', at, String(bytes)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const gone = once(holder, 'exit');
  world.onDispose(async () => {
    holder.kill('SIGKILL');
    await gone;
  });
  const seen = join('/proc', String(holder.pid), 'root', at);
  await waitUntil('the small disk to be mounted', () => existsSync(join(seen, 'mounted')));
  return seen;
}
