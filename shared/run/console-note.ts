import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';

/**
 * One line at the end of the run's own log, where someone whose notice never came will look. Only words from
 * closed sets go in, nothing a notifier said. False where the log cannot be written: the caller has said it
 * by its exit status already.
 */
export function noteInConsole(runDir: string, text: string): boolean {
  try {
    appendFileSync(join(runDir, 'console.log'), `\n[lion] ${text}\n`, { mode: 0o600 });
    return true;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return false;
  }
}
