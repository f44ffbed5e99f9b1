/**
 * Other places to judge from. A layer is a command that runs the rest of its arguments as a command; layers
 * stand one inside the other, the outermost first. All of them need root but `asUser`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Layer = readonly string[];

/** Why namespaces of our own cannot be had here; null: they can. */
export function whyNoNamespaces(): string | null {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  for (const flags of [['-m'], ['-p', '-f', '--mount-proc']]) {
    try {
      execFileSync('unshare', [...flags, 'true'], { stdio: 'ignore' });
    } catch {
      return `needs namespaces of its own, and unshare ${flags.join(' ')} does not work here`;
    }
  }
  return null;
}

/** Why the clocks of a process cannot be set apart here; null: they can. */
export function whyNoTimeNamespace(): string | null {
  try {
    execFileSync('unshare', ['-T', '--boottime', '1', '-f', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs a time namespace, and unshare -T does not work here';
  }
}

/** Mounts of its own, changed by the script, which finds the values as `$1`, `$2` ... */
export function inMounts(script: string, values: readonly string[] = []): Layer {
  const program = `set -e; ${script}; shift ${values.length}; exec "$@"`;
  return ['unshare', '-m', '--propagation', 'private', 'sh', '-c', program, 'sh', ...values];
}

/** A clock that was stepped after everything had started: only the boot time in `/proc/stat` tells. */
export function withSteppedClock(directory: string, seconds: number): Layer {
  const file = join(directory, `stat${seconds}`);
  const stat = readFileSync('/proc/stat', 'utf8');
  writeFileSync(
    file,
    stat.replace(/^btime (\d+)$/m, (_, boot) => `btime ${Number(boot) + seconds}`),
  );
  return inMounts('mount --bind "$1" /proc/stat', [file]);
}

/** Another boot id, or an empty one, which is none. */
export function withBootId(directory: string, bootId: string): Layer {
  const file = join(directory, `boot-id-${bootId || 'none'}`);
  writeFileSync(file, bootId === '' ? '' : `${bootId}\n`);
  return inMounts('mount --bind "$1" /proc/sys/kernel/random/boot_id', [file]);
}

/** `/proc` of this namespace mounted anew, with these options. */
export function withProc(options: string): Layer {
  return inMounts('mount -t proc -o "$1" proc /proc', [options]);
}

/** `/proc` in which everything can be opened by name and nothing can be listed but by root. */
export function withUnlistableProc(): Layer {
  return inMounts('mount -t proc proc /proc; chmod 0311 /proc');
}

export function withEmptyProc(): Layer {
  return inMounts('mount -t tmpfs none /proc');
}

export function withoutProc(): Layer {
  return inMounts('umount -l /proc');
}

/** The mounts of another process, its `/proc` among them, seen from this pid namespace. */
export function inMountsOf(pid: number, cwd: string): Layer {
  return ['nsenter', '-t', String(pid), '-m', `--wd=${cwd}`];
}

export function inPidNamespace(proc: 'with its own /proc' | 'with the outer /proc'): Layer {
  const mount = proc === 'with its own /proc' ? ['--mount-proc'] : [];
  return ['unshare', '-p', '-f', '--kill-child', ...mount];
}

/** Users of its own, us for its root: all others are nobody in there. */
export function inUserNamespace(): Layer {
  return ['unshare', '-U', '-r'];
}

/** Seconds since boot that count from elsewhere: start ticks read in there are shifted. */
export function inTimeNamespace(seconds: number): Layer {
  return ['unshare', '-T', '--boottime', String(seconds), '-f', '--kill-child'];
}

export function asUser(uid: number): Layer {
  return ['setpriv', '--reuid', String(uid), '--regid', String(uid), '--clear-groups'];
}

/** As many tasks as this for the user, threads counted; root is exempt. */
export function withTaskLimit(tasks: number): Layer {
  return ['prlimit', `--nproc=${tasks}:${tasks}`];
}
