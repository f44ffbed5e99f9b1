import { errorEnvelope, okEnvelope } from '../shared/contract/envelope.ts';
import { type ErrorKind, LionError } from '../shared/contract/errors.ts';
import { isEnvironmentFault } from '../shared/environment-fault.ts';
import { printableBlock } from '../shared/printable.ts';
import type { Dispatch } from './program.ts';
import type { Screen } from './render/screen.ts';
import type { Follow } from './verb.ts';

/** All a call leaves behind: what goes where, and the exit status. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Shown as it happens, after the above; its return is the exit status. */
  readonly follow?: Follow;
  /** A program that is run after the above; its exit status is this one's. */
  readonly become?: readonly [string, ...string[]];
}

/** ADR-0106 D8: the environment cannot run the command; no envelope, nothing executed. */
export const EX_CONFIG = 78;

const EXIT_CODES: Readonly<Record<ErrorKind, number>> = {
  invalid_input: 2,
  not_found: 2,
  conflict: 2,
  unavailable: 1,
  internal: 70,
};

/** Under `--machine`: one envelope, exit 0 even for a refusal. */
export function machineOutput(
  result: Dispatch | { readonly kind: 'error'; readonly error: unknown },
): Output {
  switch (result.kind) {
    case 'answer':
      return { stdout: okEnvelope(result.answer.data), stderr: '', exitCode: 0 };
    case 'text':
      return { stdout: okEnvelope({ text: result.text }), stderr: '', exitCode: 0 };
    case 'error':
      if (isEnvironmentFault(result.error)) return environmentOutput(result.error);
      return { stdout: errorEnvelope(asLionError(result.error)), stderr: '', exitCode: 0 };
  }
}

export async function humanOutput(
  result: Dispatch | { readonly kind: 'error'; readonly error: unknown },
  screen: Screen,
): Promise<Output> {
  switch (result.kind) {
    case 'answer': {
      const { human, exitCode, follow, become } = result.answer;
      const stays = { ...(follow ? { follow } : {}), ...(become ? { become } : {}) };
      return { stdout: await human(screen), stderr: '', exitCode: exitCode ?? 0, ...stays };
    }
    case 'text':
      return { stdout: result.text, stderr: '', exitCode: 0 };
    case 'error': {
      if (isEnvironmentFault(result.error)) return environmentOutput(result.error);
      const error = asLionError(result.error);
      return {
        stdout: '',
        stderr: `lion: ${printableBlock(describe(error))}\n`,
        exitCode: EXIT_CODES[error.kind],
      };
    }
  }
}

/** The fault, and what to call next; runs it may be about, and a help, have lines of their own. */
function describe({ kind, message, detail }: LionError): string {
  const candidates = Array.isArray(detail?.candidates) ? detail.candidates : [];
  if (candidates.length > 0) {
    return `${message}${kind === 'not_found' ? '; did you mean' : ''}:\n  ${candidates.join('\n  ')}`;
  }
  if (typeof detail?.help === 'string') return `${message}\n\n${detail.help}`;
  return kind === 'not_found' ? `${message}; see: lion job list` : message;
}

function environmentOutput(error: Error): Output {
  return {
    stdout: '',
    stderr: `lion: this installation cannot run the command: ${error.message}\n`,
    exitCode: EX_CONFIG,
  };
}

/** A fault of ours is still an answer; its stack goes nowhere a program would have to parse it. */
function asLionError(error: unknown): LionError {
  if (error instanceof LionError) return error;
  return new LionError(
    'internal',
    error instanceof Error ? `${error.name}: ${error.message}` : String(error),
  );
}
