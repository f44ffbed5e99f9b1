import { runLion } from './lion.ts';
import type { World } from './world.ts';

/** `data` of `lion job kill`, as far as the tests look at it. */
export interface KillData {
  run_id: string;
  killed: boolean;
  reason: string | null;
  reason_code: string;
  pid: number | null;
  pgid: number | null;
  signal: string | null;
  gone: boolean;
  remaining: number[];
  escaped: number[];
  already_ended: boolean;
}

export interface KillAnswer extends KillData {
  /** From before the start of the call to its end. */
  ms: number;
}

/** The answer of a kill that was understood; anything but a good envelope throws. */
export async function askKill(
  world: World,
  runId: string,
  args: readonly string[] = [],
  uid?: number,
): Promise<KillAnswer> {
  const as = uid === undefined ? {} : { uid };
  const run = await runLion(['job', 'kill', runId, '--machine', ...args], {
    env: world.env,
    cwd: world.cwd,
    ...as,
  });
  if (run.envelope?.ok !== true) throw new Error(`no good answer: ${run.stdout} ${run.stderr}`);
  return { ...(run.envelope.data as KillData), ms: run.ms };
}

/** `data` of another call under --machine. */
// biome-ignore lint/suspicious/noExplicitAny: the tests reach into answers of every shape
export async function askLion(world: World, args: readonly string[]): Promise<any> {
  const run = await runLion([...args, '--machine'], { env: world.env, cwd: world.cwd });
  if (run.envelope?.ok !== true) throw new Error(`no good answer: ${run.stdout} ${run.stderr}`);
  return run.envelope.data;
}
