import { LionError } from '../../shared/contract/errors.ts';
import { submitData } from '../../shared/contract/submit-view.ts';
import { requireLock } from '../../shared/lock/run-lock.ts';
import type { RunFiles, SubmitRequest } from '../../shared/submit/request.ts';
import { submitRun } from '../../shared/submit/submit.ts';
import { wrapped } from '../../shared/submit/wrapper.ts';
import type { Answer, Call } from '../verb.ts';
import { followUntilEnd } from './follow.ts';
import { commonFields, type SubmitOptions } from './submit-options.ts';

/** `lion job submit -- ARGV...` (ADR-0106 D5): any command as a run. */
export async function submit(
  call: Call,
  argv: readonly string[],
  options: SubmitOptions & WaitOptions,
): Promise<Answer> {
  if (argv.length === 0)
    throw new LionError('invalid_input', 'a command is missing: lion job submit -- COMMAND [ARG...]');
  const common = commonFields(options);
  return submitAs(call, options, {
    ...common,
    kind: 'command',
    shownArgv: argv,
    argv: (files) => wrapped(withPromptFile(argv, common.prompt, files), call.program, files.runId),
    mcp: null,
  });
}

/** A long text goes to the command as a file of the run's own, named where the command says `{prompt_file}`. */
function withPromptFile(argv: readonly string[], prompt: string | null, files: RunFiles): string[] {
  return prompt === null
    ? [...argv]
    : argv.map((word) => word.replaceAll('{prompt_file}', () => files.promptFile));
}

export interface WaitOptions {
  readonly wait?: boolean;
  readonly maxWait?: string;
}

export async function submitAs(call: Call, options: WaitOptions, request: SubmitRequest): Promise<Answer> {
  const maxWaitMs = maxWaitOf(options) * 1000;
  await requireLock();
  const engine = await call.open();
  const submitted = await submitRun(engine, request);
  const { runId, log } = submitted.files;
  if (options.wait) return followUntilEnd(call, engine, submitted, maxWaitMs);
  return {
    data: submitData(request, submitted),
    human: () => `${runId}\n  log: ${log}\n  lion job wait ${runId}\n`,
  };
}

/** Below what clients of programs allow a call, about two minutes. */
const PROGRAM_WAIT_S = 100;
const MOST_WAIT_S = 86_400;

function maxWaitOf({ wait, maxWait }: WaitOptions): number {
  if (maxWait === undefined) return PROGRAM_WAIT_S;
  if (!wait) throw new LionError('invalid_input', '--max-wait goes with --wait');
  const seconds = /^(\d+\.?\d*|\.\d+)$/.test(maxWait) ? Number(maxWait) : -1;
  if (seconds >= 0 && seconds <= MOST_WAIT_S) return seconds;
  throw new LionError(
    'invalid_input',
    `--max-wait takes seconds from 0 to ${MOST_WAIT_S}, not ${JSON.stringify(maxWait)}`,
  );
}
