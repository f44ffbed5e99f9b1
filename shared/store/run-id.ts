import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { LionError } from '../contract/errors.ts';
import { errnoOf } from '../errno.ts';
import type { Home } from './home.ts';
import { listRunNames } from './names.ts';

/** One path component that names a directory of its own; anything else never touches a path. */
export function isRunId(text: string): boolean {
  return text.trim() !== '' && text !== '.' && text !== '..' && !/[/\0]/.test(text);
}

/** `YYYYMMDDTHHMMSS-<6 hex>`, as every submitter names its runs; a run of another name was brought in by hand. */
export function hasSubmittersForm(runId: string): boolean {
  return /^\d{8}T\d{6}-[0-9a-f]{6}$/.test(runId);
}

/**
 * The run a person means: the id itself, or a prefix or suffix that only one run has.
 * @throws LionError `invalid_input` for what can be no id, `conflict` for what several runs share.
 * An id nobody has is returned as it is: reading it answers `not_found`.
 */
export function resolveRunId(home: Home, text: string): string {
  if (!isRunId(text)) throw new LionError('invalid_input', `not a run id: ${JSON.stringify(text)}`);
  if (isNamed(join(home.jobsDir, text))) return text;
  const named = listRunNames(home.jobsDir).filter((name) => name.startsWith(text) || name.endsWith(text));
  // A reservation is no run, and stands in nobody's way.
  const matches =
    named.length > 1 ? named.filter((name) => isNamed(join(home.jobsDir, name, 'job.json'))) : named;
  if (matches.length > 1) {
    throw new LionError(
      'conflict',
      `${matches.length} runs match ${JSON.stringify(text)}; give more of the id`,
      {
        candidates: matches.slice(0, 10),
      },
    );
  }
  return matches[0] ?? text;
}

/** What cannot even be looked at is taken at its word: reading it says what is wrong. */
function isNamed(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return true;
  }
}
