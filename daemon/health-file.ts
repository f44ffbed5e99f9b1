import { renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Health } from '../shared/daemon/health.ts';
import { healthPathOf } from '../shared/daemon/health.ts';
import { errnoOf } from '../shared/errno.ts';

/**
 * Replaces the health file whole (0600). Not made durable: after a crash of the machine it speaks of a
 * supervisor that is gone. One name for the temporary file is enough: one supervisor writes it.
 * @returns the system's name for why it could not be written, or null.
 */
export function writeHealth(stateDir: string, health: Health): string | null {
  const path = healthPathOf(stateDir);
  const temporary = `${path}.tmp`;
  try {
    // One left by a crash may have another mode, or be a link to elsewhere.
    rmSync(temporary, { force: true });
    writeFileSync(temporary, `${JSON.stringify(health)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
    return null;
  } catch (error) {
    const code = errnoOf(error);
    if (code === null) throw error;
    return code;
  }
}
