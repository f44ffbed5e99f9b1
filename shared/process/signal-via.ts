import { errnoOf } from '../errno.ts';
import type { Pin } from './groups.ts';

/** Signals by number alone, where the system has no way to hold a process; the last look comes just before. */
export function signalVia(pid: number): Pin {
  return {
    signal: (number) => send(pid, number),
    signalGroup: (groupId, number) => send(-groupId, number),
    groupIsGone: () => false,
    close: () => undefined,
  };
}

function send(target: number, number: number): 'sent' | 'gone' | 'denied' {
  try {
    process.kill(target, number);
    return 'sent';
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ESRCH') return 'gone';
    if (code === 'EPERM') return 'denied';
    throw error;
  }
}
