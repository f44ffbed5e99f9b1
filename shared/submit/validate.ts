import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { LionError } from '../contract/errors.ts';
import type { Engine } from '../engine.ts';
import { errnoOf } from '../errno.ts';
import { isDirectory, isFile } from '../file-kind.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { locateProgram } from '../process/startable.ts';

/** The system takes no longer single argument (its bound counts the final NUL too). */
const MAX_ARGUMENT_BYTES = 131_072;
const MAX_TAG_BYTES = 128;

/**
 * All that can be known before a run exists is checked before anything of it is on disk (ADR-0106 D5).
 * @throws LionError `invalid_input`, naming the fault and the cure.
 */
export function checkArguments(argv: readonly string[]): void {
  for (const [index, argument] of argv.entries()) {
    if (argument.includes('\0')) throw invalid(`argument ${index} holds a NUL`);
    const bytes = Buffer.byteLength(argument);
    if (bytes > MAX_ARGUMENT_BYTES) {
      throw invalid(
        `argument ${index} is ${bytes} bytes long; the system takes ${MAX_ARGUMENT_BYTES}: pass it by --prompt-file`,
      );
    }
  }
}

export function checkCwd(engine: Engine, cwd: string | null): void {
  if (cwd === '') throw invalid('--cwd is empty: leave it out to run in this directory');
  if (!isDirectory(resolve(engine.cwd, cwd ?? ''))) {
    throw invalid(
      cwd === null ? `this directory is gone: ${engine.cwd}` : `--cwd is not a directory: ${cwd}`,
    );
  }
}

/** The program has to be there and executable where the run will start. */
export function checkProgram(engine: Engine, program: string, cwd: string, what: string): void {
  if (program === '') throw invalid(`${what} is empty`);
  const candidates = locateProgram(program, cwd, engine.env.PATH);
  if (!candidates.some(isExecutable)) {
    const searched = program.includes('/') ? '' : ` on the PATH ${engine.env.PATH ?? ''}`;
    throw invalid(`${what} is not an executable program${searched}: ${program}`);
  }
}

/** The notifier is looked at now: one that can never work would be found out only when the run has ended. */
export function checkNotifier(engine: Engine, command: string | null, sender: string | null): void {
  if (command === null) return;
  const argv = parseCommand(command);
  if (argv.some((token) => token.includes('{sender}')) && !(sender || engine.env.LIONAGI_MCP_NOTIFY_SENDER)) {
    throw invalid('--notify-command uses {sender} and none is given: add --notify-sender');
  }
  const program = argv[0] ?? '';
  if (!program.includes('{')) checkProgram(engine, program, engine.cwd, 'the program of --notify-command');
}

function parseCommand(command: string): string[] {
  const asked = '--notify-command takes a JSON list of strings, as \'["my-notifier", "{run_id}"]\'';
  try {
    const parsed = parseJson(command);
    const usable =
      Array.isArray(parsed) && parsed.length > 0 && parsed.every((each) => typeof each === 'string');
    if (!usable) throw invalid(asked);
    return parsed as string[];
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalid(`${asked}: ${error.message}`);
    throw error;
  }
}

/** Tags are for grouping and never change: short, visible text. */
export function checkTags(tags: readonly string[]): void {
  for (const tag of tags) {
    if (tag.trim() === '') throw invalid('--tag is blank');
    if (Buffer.byteLength(tag) > MAX_TAG_BYTES) throw invalid(`--tag is longer than ${MAX_TAG_BYTES} bytes`);
    if (/\p{C}/u.test(tag)) throw invalid('--tag holds a control character');
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return false;
  }
}

function invalid(message: string): LionError {
  return new LionError('invalid_input', message);
}
