import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDirectory } from '../../shared/file-kind.ts';

/** Where logind remembers who lingers. */
const LINGER_DIR = '/var/lib/systemd/linger';
/** There where systemd runs (sd_booted(3)). */
const SYSTEMD_RUNS = '/run/systemd/system';

/** Whether the user's services go on without a session; null: systemd does not run here. */
export function lingers(user: string): boolean | null {
  return isDirectory(SYSTEMD_RUNS) ? existsSync(join(LINGER_DIR, user)) : null;
}
