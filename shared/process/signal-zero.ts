import { errnoOf } from '../errno.ts';

/** Signal 0: `absent` is ESRCH and nothing less; a process we may not signal is there. */
export function signalZero(pid: number): 'absent' | 'present' {
  try {
    process.kill(pid, 0);
    return 'present';
  } catch (error) {
    return errnoOf(error) === 'ESRCH' ? 'absent' : 'present';
  }
}
