import type { Config } from '../config-defaults.ts';
import { isLocalFilesystem } from './filesystem.ts';
import type { Home } from './home.ts';

/**
 * Why the store must not be looked after where it is, with the cure, or null. On a network filesystem a lock may
 * exclude this machine's programs alone: supervisors of two machines would both hold it. Both directories exist.
 */
export function placeFault(home: Home, config: Config, isLocal = isLocalFilesystem): string | null {
  if (config.judgeUnownedRecords) return null;
  const elsewhere = [home.jobsDir, home.stateDir].find((directory) => !isLocal(directory));
  if (elsewhere === undefined) return null;
  return (
    `${elsewhere} is on a filesystem that is not known to be local, where a lock may not exclude other ` +
    'machines; set LIONAGI_HOME to a directory on a local disk or, if this store is used from one place only, ' +
    `judge_unowned_records: true in ${home.configFile}`
  );
}
