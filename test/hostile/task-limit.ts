import { readdirSync, readFileSync } from 'node:fs';
import { runLion } from '../support/lion.ts';
import { asUser, withTaskLimit } from '../support/namespaces.ts';
import type { World } from '../support/world.ts';
import type { StubLi } from './stub-li.ts';

const MOST = 24;
const WITHIN_MS = 10_000;

/**
 * With how few tasks a listing works and its question to the lifecycle store cannot be asked any more: the
 * table is full for whoever judges. The store must hold a run that `li` is asked about.
 */
export async function leastTasks(world: World, li: StubLi, uid: number): Promise<number> {
  let least: number | null = null;
  for (let tasks = MOST; tasks > 1; tasks -= 1) {
    li.forget();
    const through = [...asUser(uid), ...withTaskLimit(tasks)];
    const call = { env: li.env, cwd: world.cwd, through, withinMs: WITHIN_MS };
    const { envelope } = await runLion(['job', 'list', '--machine'], call);
    if (envelope?.ok !== true) break;
    if (li.asked().length === 0) least = tasks;
  }
  if (least === null)
    throw new Error('no number of tasks lets a listing work and keeps `li` from being started');
  return least;
}

/** Threads included, as the limit counts them. */
export function tasksOf(uid: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.reduce((sum, pid) => sum + tasksIn(pid, uid), 0);
}

function tasksIn(pid: string, uid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1];
    return Number(field('Uid')) === uid ? Number(field('Threads') ?? 1) : 0;
  } catch {
    return 0; // gone meanwhile
  }
}
