import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { endChild } from './processes.ts';
import { PYTHON } from './python.ts';
import type { World } from './world.ts';

/** Holds the supervisor's instance lock of a world as a running supervisor does, in this environment. */
export async function holdInstanceLock(
  world: World,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly pid: number; end(): Promise<void> }> {
  const dir = join(world.lionagiHome, 'mcp', 'liond');
  mkdirSync(dir, { recursive: true });
  const child = spawn(PYTHON, ['-S', '-c', HOLDER, join(dir, 'instance.lock')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = (): Promise<void> => endChild(child);
  world.onDispose(end);
  await once(child.stdout, 'data');
  return { pid: child.pid ?? 0, end };
}

const HOLDER = `
import fcntl, json, os, sys, time
held = open(sys.argv[1], "w")
fcntl.flock(held, fcntl.LOCK_EX)
held.write(json.dumps({"pid": os.getpid()}))
held.flush()
print("held", flush=True)
time.sleep(600)
`;
