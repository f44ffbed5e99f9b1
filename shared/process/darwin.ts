/**
 * macOS by the kernel's own answers: sysctl gives start times to the microsecond, for one process or for all
 * of them in one call (`ps` and pidusage lose the fraction). There are no pid namespaces and no start ticks.
 */
import { allProcesses, environmentOf, hostUuid, lookUpProcess, textSysctl } from './darwin-sysctl.ts';
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

export const darwinProcesses: ProcessTable = { standpoint, sight, tokenOf, birthOf, scanForMark };

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

function scanForMark(runId: string, pid: number, ownerUid: number): MarkScan {
  const mark = Buffer.from(`${MARK_VARIABLE}=${runId}`).toString('latin1');
  const marked: MarkedProcess[] = [];
  let unreadableCandidate = false;
  for (const candidate of allProcesses()) {
    if (candidate.zombie) continue;
    const environment = environmentOf(candidate.pid);
    if (environment === null) {
      unreadableCandidate ||= candidate.pid === pid && candidate.realUid === ownerUid;
    } else if (environment.includes(mark)) {
      marked.push({ pid: candidate.pid, role: candidate.pid === pid ? 'holder' : 'other' });
    }
  }
  return { marked, unreadableCandidate };
}
