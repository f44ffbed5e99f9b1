import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const STRACE = '/usr/bin/strace';

/** Why system calls cannot be traced here; null: they can. */
export function whyNoStrace(): string | null {
  if (process.platform !== 'linux') return 'needs Linux';
  if (!existsSync(STRACE)) return `needs ${STRACE}`;
  try {
    execFileSync(STRACE, ['-f', '-o', '/dev/null', '/bin/true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs ptrace, which is not allowed here';
  }
}

/** The command to run a program through so that these of its calls stand in the file, paths of descriptors too. */
export function throughStrace(
  file: string,
  calls: readonly string[],
  more: readonly string[] = [],
): string[] {
  return [STRACE, '-f', '-y', '-s', '64', '-o', file, '-e', `trace=${calls.join(',')}`, ...more];
}
