import { appendFileSync, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';

/**
 * One line at the end of the run's own log, where someone whose notice never came will look. Only words from
 * closed sets go in, nothing a notifier said. A log that cannot be written is no reason to fail: the caller
 * says the same by its exit status.
 */
export function noteInConsole(runDir: string, text: string): void {
  const path = join(runDir, 'console.log');
  try {
    // Opening a FIFO that nobody reads would hold up the run's last act for ever.
    if (!(statSync(path, { throwIfNoEntry: false })?.isFile() ?? true)) return;
    const lead = endsInMidLine(path) ? '\n' : '';
    appendFileSync(path, `${lead}[lion] ${text}\n`, { mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) === null) throw error;
  }
}

function endsInMidLine(path: string): boolean {
  const fd = openSync(path, 'a+', 0o600);
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
  } finally {
    closeSync(fd);
  }
}
