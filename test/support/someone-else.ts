import { execFileSync } from 'node:child_process';
import type { World } from './world.ts';

const NOBODY = 65534;

/**
 * Gives the world to a user whom file modes bind, and says whom to call as. Whoever is not root is bound
 * already.
 */
export function giveToOrdinaryUser(world: World): { uid?: number } {
  if (process.getuid?.() !== 0) return {};
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, world.root]);
  return { uid: NOBODY };
}
