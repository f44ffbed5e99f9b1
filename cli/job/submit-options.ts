import { readFileSync } from 'node:fs';
import { LionError } from '../../shared/contract/errors.ts';
import { errnoOf } from '../../shared/errno.ts';
import type { SubmitRequest } from '../../shared/submit/request.ts';

/** What every way of submitting takes. */
export interface SubmitOptions {
  readonly label?: string;
  readonly cwd?: string;
  readonly notifyCommand?: string;
  readonly notifyTarget?: string;
  readonly notifySender?: string;
  readonly tag?: readonly string[];
  readonly promptFile?: string;
}

type Common = Pick<
  SubmitRequest,
  'label' | 'cwd' | 'notifyCommand' | 'notifyTarget' | 'notifySender' | 'tags' | 'prompt'
>;

export function commonFields(options: SubmitOptions): Common {
  return {
    label: options.label ?? null,
    cwd: options.cwd ?? null,
    notifyCommand: options.notifyCommand ?? null,
    notifyTarget: options.notifyTarget ?? null,
    notifySender: options.notifySender ?? null,
    tags: options.tag ?? [],
    prompt: options.promptFile === undefined ? null : readPrompt(options.promptFile),
  };
}

function readPrompt(path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError)
      throw new LionError('invalid_input', `--prompt-file is not UTF-8: ${path}`);
    if (errnoOf(error) === null) throw error;
    throw new LionError('invalid_input', `--prompt-file cannot be read: ${path}: ${errnoOf(error)}`);
  }
}
