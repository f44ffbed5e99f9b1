/** What this machine tells of processes and clocks, and how much may be watched. */
import { readFileSync, watch } from 'node:fs';
import { errnoOf } from '../errno.ts';
import { type Finding, good, note, type Place, unknown } from './finding.ts';

/** Below this a supervisor of some hundred runs may run out. */
const FEW_DESCRIPTORS = 256;

export function bootIdentity({ engine }: Place): Finding {
  const { bootId, hostId } = engine.processes.standpoint().origin;
  if (bootId !== null && hostId !== null) {
    return good('boot', 'this boot and this machine can be told from others');
  }
  const lacks = [bootId === null ? 'boot' : '', hostId === null ? 'machine' : ''].filter(Boolean);
  return note(
    'boot',
    `which ${lacks.join(' and ')} this is cannot be read`,
    'runs are judged by their processes alone, which ends fewer of them; see /etc/machine-id and /proc/sys/kernel/random/boot_id',
  );
}

export function namespace({ engine }: Place): Finding {
  const { initialNamespace, procIsOurs } = engine.processes.standpoint();
  if (!procIsOurs) {
    return note(
      'namespace',
      'the process table that is mounted here is of another pid namespace: no run is judged from here',
      'mount this namespace’s own /proc, or ask from where the runs were started',
    );
  }
  if (initialNamespace) return good('namespace', 'processes are seen by the numbers of the machine');
  return note(
    'namespace',
    'this is a pid namespace of its own (a container): runs that were started outside of it are not judged from here',
    'run the supervisor where the runs are started',
  );
}

/** Tried on the very directory, since what is left of the budget is told nowhere. */
export function watches({ scratch }: Place): Finding {
  if (scratch === null) return unknown('watches', 'there is no place to try it');
  try {
    watch(scratch).close();
    return good('watches', ['a directory can be watched', limitOf()].filter(Boolean).join('; '));
  } catch (error) {
    return note(
      'watches',
      `a directory cannot be watched: ${errnoOf(error)}`,
      'raise fs.inotify.max_user_watches or fs.inotify.max_user_instances (sysctl); a supervisor looks less promptly until then',
    );
  }
}

function limitOf(): string | null {
  const limit = textOf('/proc/sys/fs/inotify/max_user_watches');
  return limit === null ? null : `this user may have ${limit.trim()} watches`;
}

export function descriptors(): Finding {
  const limit = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits') ?? '')?.[1];
  if (limit === undefined) return unknown('descriptors', 'the limit of open files is not told here');
  const found = `${limit} files may be open at once`;
  if (Number(limit) >= FEW_DESCRIPTORS) return good('descriptors', found);
  return note('descriptors', found, `raise it: ulimit -n ${FEW_DESCRIPTORS}`);
}

/** Null: it is not told on this system. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
