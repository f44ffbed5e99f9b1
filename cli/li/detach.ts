import { resolve } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { liCommandOf } from '../../shared/li-command.ts';
import { type LiKind, liArgv } from '../../shared/submit/li.ts';
import { findMcpConfig, MCP_DISABLED } from '../../shared/submit/mcp-config.ts';
import { submitAs, type WaitOptions } from '../job/submit.ts';
import { commonFields, type SubmitOptions } from '../job/submit-options.ts';
import type { Answer, Call } from '../verb.ts';

export interface DetachOptions extends SubmitOptions, WaitOptions {
  readonly prompt?: string;
  readonly detach?: boolean;
  /** False with `--no-mcp`. */
  readonly mcp?: boolean;
}

/** `lion agent | orchestrate flow | orchestrate fanout | play ... --detach` (ADR-0106 D5). */
export async function detach(
  call: Call,
  kind: LiKind,
  args: readonly string[],
  options: DetachOptions,
): Promise<Answer> {
  if (!options.detach) {
    throw new LionError(
      'invalid_input',
      'lion starts runs in the background only: add --detach, or call li itself',
    );
  }
  const common = commonFields(options);
  const prompt = options.prompt ?? common.prompt;
  if (options.prompt !== undefined && options.promptFile !== undefined) {
    throw new LionError('invalid_input', '--prompt and --prompt-file say the same thing twice');
  }
  const li = liCommandOf(call.env);
  if (li.length === 0) throw new LionError('invalid_input', 'LIONAGI_MCP_LI_BIN is blank');
  const mcp =
    options.mcp === false ? MCP_DISABLED : findMcpConfig(resolve((await call.open()).cwd, options.cwd ?? ''));
  return submitAs(call, options, {
    ...common,
    kind,
    // Only an agent reads its prompt from the run's file.
    prompt: kind === 'agent' ? prompt : null,
    argv: (files) =>
      liArgv({ kind, li, args, prompt, withMcpFile: mcp.fileText !== null, lion: call.program }, files),
    mcp,
  });
}
