import { readlinkSync } from 'node:fs';
import { errnoOf } from '../errno.ts';
import { hostIdFrom } from './host-id.ts';
import { scanForMark } from './linux-marks.ts';
import { createTimeOf, isDead, readStat, readTasks, readText } from './proc-files.ts';
import { signalZero } from './signal-zero.ts';
import type { ProcessTable, Sighting, Standpoint } from './table.ts';

/** The inode of the namespace the kernel starts with. */
const INITIAL_PID_NAMESPACE = 4026531836;

export const linuxProcesses: ProcessTable = { standpoint, sight, tokenOf, birthOf, scanForMark };

function standpoint(): Standpoint {
  const pidNamespace = ownNamespace();
  return {
    origin: { hostId: hostId(), bootId: bootId(), pidNamespace },
    initialNamespace: pidNamespace === INITIAL_PID_NAMESPACE,
    procIsOurs: linkOrNull('/proc/self') === String(process.pid),
  };
}

/** Two looks must agree: a pid handed on between them is nobody's identity (design 5). */
function sight(pid: number): Sighting {
  if (signalZero(pid) === 'absent') return { kind: 'absent' };
  const first = look(pid);
  if (first.kind !== 'live') return first;
  const second = look(pid);
  if (second.kind !== 'live') return second;
  const same = first.startTicks === second.startTicks && first.createTime === second.createTime;
  return same ? second : { kind: 'unreadable' };
}

function look(pid: number): Sighting {
  const stat = readStat(`/proc/${pid}`);
  if (stat === 'unreadable') return { kind: 'unreadable' };
  // Hidden by the mount options of /proc, or gone since: signal 0 tells them apart.
  if (stat === 'missing') return { kind: signalZero(pid) === 'absent' ? 'vanished' : 'unreadable' };
  if (isDead(stat.state)) {
    const tasks = lifeOfTasks(pid);
    if (tasks !== 'some live') return { kind: tasks === 'unknown' ? 'unreadable' : 'vanished' };
  }
  const createTime = createTimeOf(stat);
  return createTime === null
    ? { kind: 'unreadable' }
    : { kind: 'live', createTime, startTicks: stat.startTicks };
}

/** Ticks since boot: no clock step moves them. */
function tokenOf(pid: number): string | null {
  const stat = readStat(`/proc/${pid}`);
  return typeof stat === 'object' && !isDead(stat.state) ? String(stat.startTicks) : null;
}

function birthOf(pid: number): { createTime: number | null; startTicks: number | null } {
  const stat = readStat(`/proc/${pid}`);
  if (typeof stat !== 'object') return { createTime: null, startTicks: null };
  return { createTime: createTimeOf(stat), startTicks: stat.startTicks };
}

function lifeOfTasks(pid: number): 'some live' | 'none live' | 'unknown' {
  const tasks = readTasks(pid);
  if (typeof tasks === 'string') return tasks === 'missing' ? 'none live' : 'unknown';
  if (tasks.some(({ stat }) => typeof stat === 'object' && !isDead(stat.state))) return 'some live';
  return tasks.some(({ stat }) => stat === 'unreadable') ? 'unknown' : 'none live';
}

function ownNamespace(): number | null {
  const inode = /^pid:\[(\d+)\]$/.exec(linkOrNull('/proc/self/ns/pid') ?? '')?.[1];
  return inode === undefined ? null : Number(inode);
}

function hostId(): string | null {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    const text = readText(path);
    if (text !== 'missing' && text !== 'unreadable' && text.trim() !== '') return hostIdFrom(text);
  }
  return null;
}

function bootId(): string | null {
  const text = readText('/proc/sys/kernel/random/boot_id');
  return text === 'missing' || text === 'unreadable' ? null : text.trim() || null;
}

function linkOrNull(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
