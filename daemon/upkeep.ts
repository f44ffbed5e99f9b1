import type { Degradation } from '../shared/daemon/health.ts';
import type { HeldInstance } from './instance.ts';
import type { OpenJournal } from './journal.ts';

const UPKEEP_INTERVAL_MS = 5_000;

export interface Upkeep {
  /** What is amiss with the log or the lock, for the health file. */
  degraded(): readonly Degradation[];
}

/**
 * Looks at the supervisor's own files every 5 s, for as long as something else keeps the process: no second
 * supervisor may come up beside it, and its words must land where they are looked for.
 * @param onLost another supervisor holds the lock of this store now.
 */
export function startUpkeep(instance: HeldInstance, journal: OpenJournal, onLost: () => void): Upkeep {
  let lockFault: Degradation | null = null;
  let looking = false;

  const look = async (): Promise<void> => {
    const found = await instance.check();
    if (found === 'lost') return onLost();
    if (typeof found === 'object') {
      if (lockFault === null) journal({ event: 'degraded', ...found });
      lockFault = found;
      return;
    }
    if (found === 'retaken') journal({ event: 'instance_retaken' });
    if (lockFault !== null) journal({ event: 'recovered', code: lockFault.code });
    lockFault = null;
  };
  setInterval(async () => {
    journal.tick();
    if (looking) return;
    looking = true;
    await look();
    looking = false;
  }, UPKEEP_INTERVAL_MS).unref();
  return { degraded: () => [journal.degraded(), lockFault].filter((each) => each !== null) };
}
