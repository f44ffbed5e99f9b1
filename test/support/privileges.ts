import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Why a private mount namespace cannot be had here; null: it can. */
export function whyNoMountNamespace(): string | null {
  if (process.platform !== 'linux') return 'needs Linux';
  if (process.getuid?.() !== 0) return 'needs root';
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'needs a private mount namespace, and unshare -m does not work here';
  }
}

/**
 * The command to run a program through so that it, as this user, finds a file it may not read at
 * `/proc/PID/stat`, and nobody else does.
 */
export function throughMaskedStat(directory: string, pid: number, uid: number): string[] {
  const mask = join(directory, 'mask');
  writeFileSync(mask, '');
  chmodSync(mask, 0);
  const script =
    'mount --bind "$1" "/proc/$2/stat" && uid=$3 && shift 3 && exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"';
  const inNamespace = ['unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'sh'];
  return [...inNamespace, mask, String(pid), String(uid)];
}
