import { renameSync, rmSync } from 'node:fs';
import { hasCode } from '../../shared/errno.ts';
import { indexFileOf, SIDECAR_SUFFIXES } from '../../shared/index/schema.ts';

/**
 * Moves an index that cannot be used to `index.sqlite3.set-aside`, its sidecars with it, for whoever wants to
 * know what happened. One is kept, the newest. Nobody may have it open through us.
 */
export function setAside(stateDir: string): void {
  const file = indexFileOf(stateDir);
  for (const suffix of ['', ...SIDECAR_SUFFIXES]) {
    const kept = `${file}.set-aside${suffix}`;
    rmSync(kept, { recursive: true, force: true });
    try {
      renameSync(`${file}${suffix}`, kept);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }
}
