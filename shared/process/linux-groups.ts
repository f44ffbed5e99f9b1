import { closeSync } from 'node:fs';
import koffi from 'koffi';
import type { GroupMember, Pin, ProcessGroups } from './groups.ts';
import { readEnvironment } from './linux-marks.ts';
import { createTimeOf, isDead, listPids, type ProcRead, readStat } from './proc-files.ts';
import { signalVia } from './signal-via.ts';
import { MARK_VARIABLE } from './table.ts';

const libc = koffi.load(null);
const getpgid = libc.func('int getpgid(int pid)');
const syscall2 = libc.func('long syscall(long number, int a, uint b)');
const syscall4 = libc.func('long syscall(long number, int a, int b, void *c, uint d)');

/** The same number on every architecture since 5.1. */
const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;
/** Since 6.9: signals the group of the process that is held, with no number looked up in between. */
const PIDFD_SIGNAL_PROCESS_GROUP = 4;

export const linuxGroups: ProcessGroups = { groupOf, membersOf, pin };

function groupOf(pid: number): number | null {
  const group = getpgid(pid);
  return group > 0 ? group : null;
}

/** The kernel says who is in the group, also of a process whose /proc entry is hidden. */
function membersOf(groupId: number): GroupMember[] {
  return (listPids() ?? []).flatMap((pid) => {
    if (groupOf(pid) !== groupId) return [];
    const stat = readStat(`/proc/${pid}`);
    if (stat === 'missing') return [];
    if (stat === 'unreadable') return [{ pid, createTime: null, mark: 'unreadable' as const }];
    return isDead(stat.state)
      ? []
      : [{ pid, createTime: createTimeOf(stat), mark: markOf(readEnvironment(pid)) }];
  });
}

function markOf(environment: ProcRead<Buffer>): GroupMember['mark'] {
  if (environment === 'missing') return { runId: null };
  if (environment === 'unreadable') return 'unreadable';
  const prefix = `${MARK_VARIABLE}=`;
  const entry = environment
    .toString('utf8')
    .split('\0')
    .find((each) => each.startsWith(prefix));
  return { runId: entry === undefined ? null : entry.slice(prefix.length) };
}

function pin(pid: number): Pin | null {
  const fd = Number(syscall2(PIDFD_OPEN, pid, 0));
  if (fd >= 0) return pinned(fd);
  // A kernel without pidfds: the last look before the signal is then all there is.
  return koffi.errno() === koffi.os.errno.ENOSYS ? signalVia(pid) : null;
}

function pinned(fd: number): Pin {
  const send = (number: number, flags: number): ReturnType<Pin['signal']> | 'unsupported' => {
    if (Number(syscall4(PIDFD_SEND_SIGNAL, fd, number, null, flags)) === 0) return 'sent';
    const errno = koffi.errno();
    if (errno === koffi.os.errno.EPERM) return 'denied';
    return errno === koffi.os.errno.EINVAL && flags !== 0 ? 'unsupported' : 'gone';
  };
  return {
    signal: (number) => send(number, 0) as ReturnType<Pin['signal']>,
    signalGroup(groupId, number) {
      const sent = send(number, PIDFD_SIGNAL_PROCESS_GROUP);
      if (sent === 'sent' || sent === 'denied') return sent;
      // The kernel takes what is held for the group's leader, and knows no such flag before 6.9. A member that
      // leads none is asked for once more, then its group is signalled by number.
      return send(0, 0) === 'gone' ? 'gone' : signalVia(-groupId).signal(number);
    },
    groupIsGone: () => send(0, PIDFD_SIGNAL_PROCESS_GROUP) === 'gone',
    close: () => closeSync(fd),
  };
}
