import type { Degradation } from '../shared/daemon/health.ts';
import {
  INSTANCE_WAIT_MS,
  type InstanceLock,
  type InstanceNote,
  takeInstanceLock,
} from '../shared/daemon/instance-lock.ts';
import { errnoOf } from '../shared/errno.ts';

export interface HeldInstance {
  /**
   * Call it every few seconds. `retaken`: the lock file was gone or replaced and is ours again at its path;
   * `lost`: another supervisor holds the new one, so this one has to stop; else why the path cannot be locked
   * now, to be looked at again.
   */
  check(): Promise<'held' | 'retaken' | 'lost' | Degradation>;
  release(): void;
}

/**
 * Makes this process the one supervisor of a store, or tells which one is.
 * @throws as takeInstanceLock does.
 */
export async function holdInstance(
  stateDir: string,
  note: InstanceNote,
  signal: AbortSignal,
): Promise<{ readonly held: HeldInstance } | { readonly heldBy: InstanceNote }> {
  const take = () => takeInstanceLock(stateDir, note, { waitMs: INSTANCE_WAIT_MS, signal });
  const first = await take();
  return 'taken' in first ? { held: keep(first.taken, take) } : first;
}

function keep(first: InstanceLock, take: () => ReturnType<typeof takeInstanceLock>): HeldInstance {
  let lock = first;
  return {
    async check() {
      try {
        if (lock.isStillOurs()) return 'held';
        const again = await take();
        if (!('taken' in again)) return 'lost';
        lock.release();
        lock = again.taken;
        return 'retaken';
      } catch (error) {
        const errno = errnoOf(error);
        if (errno === null) throw error;
        return unlockable(errno);
      }
    },
    release: () => lock.release(),
  };
}

function unlockable(errno: string): Degradation {
  return {
    code: 'instance_lock_missing',
    cause: `instance.lock is gone and cannot be made again: ${errno}`,
    cure: 'make its directory writable; until then a second supervisor could start',
  };
}
