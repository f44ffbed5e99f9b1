import type { Pin, ProcessGroups } from '../../shared/process/groups.ts';
import type { Window } from './pid-reuse.ts';

/**
 * The system's groups, but once, in this window of a kill, the processes change under it. The window is one of
 * what is done about this process, where several are pinned.
 */
export function replacingGroups(
  real: ProcessGroups,
  window: Window,
  pinned: number,
  replace: () => void,
): ProcessGroups {
  let done = false;
  let looks = 0;
  const at = (here: Window): void => {
    if (here !== window || done) return;
    done = true;
    replace();
  };
  const signalling = (signal: () => ReturnType<Pin['signal']>): ReturnType<Pin['signal']> => {
    at('between the second look and the signal');
    const sent = signal();
    at('after the signal');
    return sent;
  };
  return {
    groupOf(pid) {
      looks += 1;
      if (looks === 1) at('within the first look');
      if (looks === 2) at('within the second look');
      return real.groupOf(pid);
    },
    membersOf: (groupId) => real.membersOf(groupId),
    pin(pid) {
      if (pid !== pinned) return real.pin(pid);
      at('before the pin');
      const pin = real.pin(pid);
      at('between the pin and the second look');
      if (pin === null) return null;
      return {
        signal: (number) => signalling(() => pin.signal(number)),
        signalGroup: (groupId, number) => signalling(() => pin.signalGroup(groupId, number)),
        groupIsGone: () => pin.groupIsGone(),
        close: () => pin.close(),
      };
    },
  };
}
