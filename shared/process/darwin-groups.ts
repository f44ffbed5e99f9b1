import koffi from 'koffi';
import { allProcesses, environmentOf } from './darwin-sysctl.ts';
import type { GroupMember, ProcessGroups } from './groups.ts';
import { signalVia } from './signal-via.ts';
import { MARK_VARIABLE } from './table.ts';

const getpgid = koffi.load(null).func('int getpgid(int pid)');

/** macOS has no handle on a process: the last look before a signal is all there is (docs/contract.md says so). */
export const darwinGroups: ProcessGroups = { groupOf, membersOf, pin: signalVia };

function groupOf(pid: number): number | null {
  const group = getpgid(pid);
  return group > 0 ? group : null;
}

function membersOf(groupId: number): GroupMember[] {
  return allProcesses()
    .filter((each) => !each.zombie && groupOf(each.pid) === groupId)
    .map((each) => ({ pid: each.pid, createTime: each.createTime, mark: markOf(environmentOf(each.pid)) }));
}

function markOf(environment: readonly string[] | null): GroupMember['mark'] {
  if (environment === null) return 'unreadable';
  const prefix = `${MARK_VARIABLE}=`;
  const entry = environment.find((each) => each.startsWith(prefix));
  return { runId: entry === undefined ? null : Buffer.from(entry.slice(prefix.length), 'latin1').toString() };
}
