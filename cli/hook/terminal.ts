import { LionError } from '../../shared/contract/errors.ts';
import { requireLock } from '../../shared/lock/run-lock.ts';
import { reportTerminal } from '../../shared/run/terminal-hook.ts';
import { isRunId } from '../../shared/store/run-id.ts';
import type { Answer, Call } from '../verb.ts';

export interface HookOptions {
  readonly runId: string;
  readonly status: string;
  readonly exitCode?: string;
  readonly exitSignal?: string;
  readonly command?: string;
  readonly target?: string;
  readonly sender?: string;
}

/**
 * `lion hook terminal` (design 10): a run's last act. Exits 1 where its end, or what came of its notice, is not
 * on the record (ADR-0107 D5).
 */
export async function hookTerminal(call: Call, options: HookOptions): Promise<Answer> {
  if (!isRunId(options.runId))
    throw new LionError('invalid_input', `not a run id: ${JSON.stringify(options.runId)}`);
  const exitCode = exitCodeOf(options.exitCode);
  await requireLock();
  // The signal that ends a run reaches its hook too; a run's last act is not cut short by it.
  const engine = { ...(await call.open()), signal: new AbortController().signal };
  const { command, target, sender } = options;
  const outcome = await reportTerminal(engine, {
    runId: options.runId,
    status: options.status,
    exitCode,
    exitSignal: options.exitSignal ?? null,
    hook: { command, target, sender },
  });
  if (outcome.kind === 'not_recorded') throw new LionError('unavailable', `not recorded: ${outcome.what}`);
  return { data: { run_id: options.runId, recorded: outcome.kind === 'done' }, human: () => '' };
}

function exitCodeOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new LionError('invalid_input', `--exit-code takes a whole number, not ${JSON.stringify(text)}`);
}
