/**
 * macOS by the kernel's own answers: sysctl gives start times to the microsecond, for one process or for all
 * of them in one call (`ps` and pidusage lose the fraction). There are no pid namespaces and no start ticks.
 */
import koffi from 'koffi';
import { KINFO_BYTES, type KinfoProc, parseEnvironment, parseKinfo } from './darwin-kinfo.ts';
import { hostIdFrom } from './host-id.ts';
import { signalZero } from './signal-zero.ts';
import {
  MARK_VARIABLE,
  type MarkedProcess,
  type MarkScan,
  type ProcessTable,
  type Sighting,
  type Standpoint,
} from './table.ts';

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

export const darwinProcesses: ProcessTable = { standpoint, sight, scanForMark };

function standpoint(): Standpoint {
  const origin = { hostId: hostId(), bootId: textSysctl('kern.bootsessionuuid'), pidNamespace: null };
  return { origin, initialNamespace: true, procIsOurs: true };
}

function sight(pid: number): Sighting {
  if (signalZero(pid) === 'absent') return { kind: 'absent' };
  const first = lookUp(pid);
  if (first === 'unreadable') return { kind: 'unreadable' };
  if (first === null) return { kind: signalZero(pid) === 'absent' ? 'vanished' : 'unreadable' };
  if (first.zombie) return { kind: 'vanished' };
  const second = lookUp(pid);
  const same = second !== null && second !== 'unreadable' && second.createTime === first.createTime;
  return same ? { kind: 'live', createTime: first.createTime, startTicks: null } : { kind: 'unreadable' };
}

function lookUp(pid: number): KinfoProc | null | 'unreadable' {
  const bytes = querySysctl([CTL_KERN, KERN_PROC, KERN_PROC_PID, pid], KINFO_BYTES);
  if (bytes === null) return 'unreadable';
  return parseKinfo(bytes).find((process) => process.pid === pid) ?? null;
}

function scanForMark(runId: string, pid: number, ownerUid: number): MarkScan {
  const mark = Buffer.from(`${MARK_VARIABLE}=${runId}`).toString('latin1');
  const marked: MarkedProcess[] = [];
  let unreadableCandidate = false;
  for (const candidate of allProcesses()) {
    if (candidate.zombie) continue;
    const block = querySysctl([CTL_KERN, KERN_PROCARGS2, candidate.pid], MAX_ARGS_BYTES);
    if (block === null) {
      unreadableCandidate ||= candidate.pid === pid && candidate.realUid === ownerUid;
    } else if (parseEnvironment(block).includes(mark)) {
      marked.push({ pid: candidate.pid, role: candidate.pid === pid ? 'holder' : 'other' });
    }
  }
  return { marked, unreadableCandidate };
}

/** Room for processes that start between the question of how many there are and the answer. */
const SPARE_PROCESSES = 64;

function allProcesses(): KinfoProc[] {
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

function textSysctl(name: string): string | null {
  const buffer = Buffer.alloc(256);
  const size: [number] = [buffer.length];
  if (sysctlbyname(name, buffer, size, null, 0) !== 0) return null;
  return buffer.toString('latin1', 0, Number(size[0])).replace(/\0.*$/s, '') || null;
}

function hostId(): string | null {
  const id = Buffer.alloc(16);
  const wait = Buffer.alloc(16);
  return gethostuuid(id, wait) === 0 ? hostIdFrom(id.toString('hex')) : null;
}
