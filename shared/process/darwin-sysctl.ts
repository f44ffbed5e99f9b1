import koffi from 'koffi';
import { KINFO_BYTES, type KinfoProc, parseEnvironment, parseKinfo } from './darwin-kinfo.ts';

const CTL_KERN = 1;
const KERN_PROC = 14;
const KERN_PROC_ALL = 0;
const KERN_PROC_PID = 1;
const KERN_PROCARGS2 = 49;
/** More than the kernel's own bound on arguments and environment. */
const MAX_ARGS_BYTES = 1024 * 1024 + 4096;

const libc = koffi.load(null);
const sysctl = libc.func(
  'int sysctl(int *name, uint namelen, void *old, _Inout_ size_t *oldlen, void *new, size_t newlen)',
);
const sysctlbyname = libc.func(
  'int sysctlbyname(str name, void *old, _Inout_ size_t *oldlen, void *new, size_t newlen)',
);
const gethostuuid = libc.func('int gethostuuid(void *id, void *wait)');

/** `unreadable`: the kernel did not answer. */
export function lookUpProcess(pid: number): KinfoProc | null | 'unreadable' {
  const bytes = querySysctl([CTL_KERN, KERN_PROC, KERN_PROC_PID, pid], KINFO_BYTES);
  if (bytes === null) return 'unreadable';
  return parseKinfo(bytes).find((process) => process.pid === pid) ?? null;
}

/** The environment of a process, an entry each, latin-1; null where it will not be told. */
export function environmentOf(pid: number): string[] | null {
  const block = querySysctl([CTL_KERN, KERN_PROCARGS2, pid], MAX_ARGS_BYTES);
  return block === null ? null : parseEnvironment(block);
}

/** Room for processes that start between the question of how many there are and the answer. */
const SPARE_PROCESSES = 64;

export function allProcesses(): KinfoProc[] {
  const name = [CTL_KERN, KERN_PROC, KERN_PROC_ALL];
  const size: [number] = [0];
  if (sysctl(name, name.length, null, size, null, 0) !== 0) return [];
  const bytes = querySysctl(name, Number(size[0]) + SPARE_PROCESSES * KINFO_BYTES);
  return bytes === null ? [] : parseKinfo(bytes);
}

function querySysctl(name: readonly number[], maxBytes: number): Buffer | null {
  const buffer = Buffer.alloc(maxBytes);
  const size: [number] = [maxBytes];
  if (sysctl(name, name.length, buffer, size, null, 0) !== 0) return null;
  return buffer.subarray(0, Number(size[0]));
}

export function textSysctl(name: string): string | null {
  const buffer = Buffer.alloc(256);
  const size: [number] = [buffer.length];
  if (sysctlbyname(name, buffer, size, null, 0) !== 0) return null;
  return buffer.toString('latin1', 0, Number(size[0])).replace(/\0.*$/s, '') || null;
}

/** The machine's own id. */
export function hostUuid(): string | null {
  const id = Buffer.alloc(16);
  const wait = Buffer.alloc(16);
  return gethostuuid(id, wait) === 0 ? id.toString('hex') : null;
}
