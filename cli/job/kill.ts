import { constants } from 'node:os';
import { LionError } from '../../shared/contract/errors.ts';
import { killData } from '../../shared/contract/kill-view.ts';
import { EnvironmentFault } from '../../shared/environment-fault.ts';
import { type KillResult, killRun } from '../../shared/kill/kill.ts';
import { reasonInWords } from '../../shared/kill/reason.ts';
import { requireLock } from '../../shared/lock/run-lock.ts';
import type { ProcessGroups } from '../../shared/process/groups.ts';
import { loadProcessGroups } from '../../shared/process/load.ts';
import { resolveRunId } from '../../shared/store/run-id.ts';
import type { Answer, Call } from '../verb.ts';
import { nearWords } from './wait.ts';

export interface KillOptions {
  readonly signal?: string;
  readonly grace?: string;
  readonly force?: boolean;
}

const DEFAULT_GRACE_S = 10;

/** `lion job kill RUN` (ADR-0106 D6): what was done, never an error for a run that is over. */
export async function kill(call: Call, id: string, options: KillOptions): Promise<Answer> {
  const [signal, number] = signalOf(options.signal ?? 'TERM');
  const graceMs = graceOf(options.grace) * 1000;
  await requireLock();
  const groups = await processGroups();
  const engine = await call.open();
  const runId = resolveRunId(engine.home, id);
  call.progress(`waiting for all of it to be gone, ${graceMs / 1000} s at most`);
  const result = await killRun(engine, groups, runId, {
    signal: number,
    graceMs,
    force: options.force ?? false,
  });
  return {
    data: killData(runId, signal, result),
    human: async () => {
      const near = result.reasonCode === 'no_such_job' ? await nearWords(call, runId) : '';
      return render(runId, signal, result, options.force ?? false, near);
    },
    exitCode: result.killed && result.reasonCode === 'signalled' ? 0 : 1,
  };
}

async function processGroups(): Promise<ProcessGroups> {
  try {
    return await loadProcessGroups();
  } catch (error) {
    throw new EnvironmentFault(error instanceof Error ? error.message : String(error));
  }
}

function signalOf(text: string): [string, number] {
  const name = `SIG${text.toUpperCase().replace(/^SIG/, '')}`;
  const byName = Object.entries(constants.signals).find(([each]) => each === name);
  const byNumber = Object.entries(constants.signals).find(([, number]) => String(number) === text);
  const found = byName ?? byNumber;
  if (found !== undefined) return found;
  throw new LionError(
    'invalid_input',
    `--signal takes a name or number of this system, as TERM, KILL or 15, not ${JSON.stringify(text)}`,
  );
}

const MAX_GRACE_S = 600;

function graceOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_GRACE_S;
  const seconds = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : -1;
  if (seconds >= 0 && seconds <= MAX_GRACE_S) return seconds;
  throw new LionError(
    'invalid_input',
    `--grace takes seconds from 0 to ${MAX_GRACE_S}, not ${JSON.stringify(text)}`,
  );
}

function render(runId: string, signal: string, result: KillResult, force: boolean, near: string): string {
  const lines = [`${runId}  ${headline(signal, result)}${near}`];
  if (result.alreadyEnded) lines.push('  it had its end before; that end stands');
  if (result.remaining.length > 0) {
    lines.push(`  still alive: ${result.remaining.join(', ')}${force ? '' : '; --force ends them'}`);
  }
  if (result.escaped.length > 0)
    lines.push(`  of these, outside its process group: ${result.escaped.join(', ')}`);
  return `${lines.join('\n')}\n`;
}

function headline(signal: string, result: KillResult): string {
  const gone = result.remaining.length === 0;
  if (result.reasonCode === 'signalled')
    return gone ? `${signal} sent, all of it has ended` : `${signal} sent`;
  return `${result.killed ? `${signal} sent, but ` : 'not signalled: '}${reasonInWords(result.reasonCode)}`;
}
