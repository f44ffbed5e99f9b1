/**
 * macOS by the kernel's own answers: sysctl gives start times to the microsecond, for one process or for all
 * of them in one call (`ps` and pidusage lose the fraction). There are no pid namespaces and no start ticks.
 */
import { allProcesses, environmentOf, hostUuid, lookUpProcess, textSysctl } from './darwin-sysctl.ts';
import { hostIdFrom } from './host-id.ts';
import { signalZero } from './signal-zero.ts';
import {
  MARK_VARIABLE,
  type MarkSurvey,
  type ProcessTable,
  type Sighting,
  type Standpoint,
} from './table.ts';

export const darwinProcesses: ProcessTable = {
  standpoint,
  sight,
  tokenOf,
  birthOf,
  scanForMark: (runId, pid, ownerUid) => surveyMarks()(runId, pid, ownerUid),
  surveyMarks,
};

function standpoint(): Standpoint {
  const uuid = hostUuid();
  const hostId = uuid === null ? null : hostIdFrom(uuid);
  const origin = { hostId, bootId: textSysctl('kern.bootsessionuuid'), pidNamespace: null };
  return { origin, initialNamespace: true, procIsOurs: true };
}

function sight(pid: number): Sighting {
  if (signalZero(pid) === 'absent') return { kind: 'absent' };
  const first = lookUpProcess(pid);
  if (first === 'unreadable') return { kind: 'unreadable' };
  if (first === null) return { kind: signalZero(pid) === 'absent' ? 'vanished' : 'unreadable' };
  if (first.zombie) return { kind: 'vanished' };
  const second = lookUpProcess(pid);
  const same = second !== null && second !== 'unreadable' && second.createTime === first.createTime;
  return same ? { kind: 'live', createTime: first.createTime, startTicks: null } : { kind: 'unreadable' };
}

function tokenOf(pid: number): string | null {
  const found = lookUpProcess(pid);
  return found === null || found === 'unreadable' || found.zombie ? null : String(found.createTime);
}

function birthOf(pid: number): { createTime: number | null; startTicks: null } {
  const found = lookUpProcess(pid);
  return { createTime: found === null || found === 'unreadable' ? null : found.createTime, startTicks: null };
}

function surveyMarks(): MarkSurvey {
  const seen = allProcesses()
    .filter(({ zombie }) => !zombie)
    .map(({ pid, realUid }) => ({ pid, realUid, marks: marksOf(pid) }));
  return (runId, pid, ownerUid) => {
    const mark = Buffer.from(`${MARK_VARIABLE}=${runId}`).toString('latin1');
    const marked = seen.filter(({ marks }) => marks?.includes(mark));
    return {
      marked: marked.map((carrier) => ({ pid: carrier.pid, role: carrier.pid === pid ? 'holder' : 'other' })),
      unreadableCandidate: seen.some(
        (process) => process.marks === null && process.pid === pid && process.realUid === ownerUid,
      ),
    };
  };
}

function marksOf(pid: number): readonly string[] | null {
  return environmentOf(pid)?.filter((entry) => entry.startsWith(`${MARK_VARIABLE}=`)) ?? null;
}
