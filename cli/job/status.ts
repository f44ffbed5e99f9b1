import { recordError } from '../../shared/contract/record-errors.ts';
import { statusData } from '../../shared/contract/status-view.ts';
import { readUsage } from '../../shared/index/read-usage.ts';
import type { Jsonable } from '../../shared/json/value.ts';
import { usageOf } from '../../shared/output/usage.ts';
import { ONE_RUN_BOUNDS, statusOf } from '../../shared/run/status.ts';
import { resolveRunId } from '../../shared/store/run-id.ts';
import type { Answer, Call } from '../verb.ts';

export interface StatusOptions {
  readonly usage?: boolean;
}

/** `lion job status RUN` (ADR-0106 D4, D6). */
export async function status(call: Call, id: string, options: StatusOptions): Promise<Answer> {
  const engine = await call.open();
  const runId = resolveRunId(engine.home, id);
  const found = await statusOf(engine, runId, {
    ...ONE_RUN_BOUNDS,
    probeEnded: true,
    seenAlive: false,
  });
  const error = recordError(found);
  if (error !== null) throw error;
  const run = { runId, terminal: found.derived.terminal };
  const usage = options.usage
    ? usageOf(await readUsage(engine.home.stateDir, [runId]), run, engine.now())
    : null;
  const data: Readonly<Record<string, Jsonable>> = {
    ...statusData(engine, found),
    ...(usage === null ? {} : { usage: { ...usage } }),
  };
  return {
    data,
    human: async (screen) => (await import('../render/status.ts')).renderStatus(screen, data, usage),
  };
}
