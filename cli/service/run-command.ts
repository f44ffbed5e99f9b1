import { LionError } from '../../shared/contract/errors.ts';
import { errnoOf } from '../../shared/errno.ts';
import { printable } from '../../shared/printable.ts';
import { runChild } from '../../shared/process/run-child.ts';
import { type Command, commandText } from './plan.ts';

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** @throws LionError `unavailable` where the command cannot be started or does not answer in time. */
export type RunCommand = (command: Command, timeoutMs: number) => Promise<CommandResult>;

const MAX_OUTPUT_BYTES = 256 * 1024;

/** Runs commands of the service manager, without a shell, in the words the program has for programs. */
export function commandRunner(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): RunCommand {
  return async (command, timeoutMs) => {
    const [program, ...args] = command;
    const result = await runChild({
      program,
      args,
      cwd: '/',
      env: { ...env, LC_ALL: 'C', SYSTEMD_PAGER: '', SYSTEMD_COLORS: '0' },
      stdin: null,
      timeoutMs,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      overflow: 'drop',
      signal,
    });
    switch (result.kind) {
      case 'not_started':
        throw new LionError('unavailable', `${program} cannot be run: ${errnoOf(result.error) ?? 'unknown'}`);
      case 'ended':
        throw new LionError('unavailable', `${commandText(command)} ${ENDED[result.why](timeoutMs)}`);
      case 'exited':
        return {
          exitCode: result.exitCode,
          stdout: result.stdout.toString('utf8'),
          stderr: result.stderr.toString('utf8'),
        };
    }
  };
}

const ENDED: Readonly<Record<'timeout' | 'overflow' | 'aborted', (timeoutMs: number) => string>> = {
  timeout: (timeoutMs) => `did not answer within ${timeoutMs / 1000} s`,
  overflow: () => 'said too much',
  aborted: () => 'was interrupted',
};

/** What a command that failed said, in one line. */
export function faultOf(command: Command, { exitCode, stderr, stdout }: CommandResult): string {
  const words = (stderr.trim() || stdout.trim()).split('\n').map((line) => line.trim());
  return `${commandText(command)} failed (exit status ${exitCode}): ${printable(words.join(' ').slice(0, 600)) || 'no word why'}`;
}
