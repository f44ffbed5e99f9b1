import {
  isDead,
  listPids,
  type ProcIdentity,
  type ProcRead,
  type ProcTask,
  readBytes,
  readIdentity,
  readStat,
  readTasks,
} from './proc-files.ts';
import { MARK_VARIABLE, type MarkedProcess, type MarkScan, type MarkSurvey } from './table.ts';

/**
 * One pass over every process for this run's mark (design 5.1). A mark found refutes death or names a
 * survivor; a mark missing proves nothing, since a program may clear its environment.
 */
export function scanForMark(runId: string, pid: number, ownerUid: number): MarkScan {
  return surveyMarks()(runId, pid, ownerUid);
}

/** The same pass, made once to be asked about many runs. */
export function surveyMarks(): MarkSurvey {
  const pids = listPids();
  const carriers: { pid: number; environment: Buffer }[] = [];
  const unreadable: { pid: number; identity: ProcRead<ProcIdentity> }[] = [];
  for (const pid of pids ?? []) {
    const environment = readEnvironment(pid);
    if (environment === 'missing') continue;
    // Empty: it is in the middle of an execve.
    if (environment === 'unreadable' || environment.length === 0)
      unreadable.push({ pid, identity: readIdentity(pid) });
    else if (environment.includes(`${MARK_VARIABLE}=`)) carriers.push({ pid, environment });
  }
  return (runId, pid, ownerUid) => {
    const mark = Buffer.from(`${MARK_VARIABLE}=${runId}\0`);
    const marked = carriers.filter(({ environment }) => carries(environment, mark));
    return {
      marked: marked.map((carrier) => ({ pid: carrier.pid, role: roleOf(readIdentity(carrier.pid), pid) })),
      unreadableCandidate:
        pids === null ||
        hidesOwners(ownerUid) ||
        unreadable.some((process) => mayBeTheRun(process.pid, process.identity, pid, ownerUid)),
    };
  };
}

/** A zombie leader has no environment of its own any more; its live tasks still share one. */
export function readEnvironment(pid: number): ProcRead<Buffer> {
  const own = readBytes(`/proc/${pid}/environ`);
  if (own === 'unreadable' || (typeof own !== 'string' && own.length > 0)) return own;
  const stat = readStat(`/proc/${pid}`);
  if (typeof stat === 'string') return stat;
  if (!isDead(stat.state)) return own;
  for (const task of liveTasks(pid)) {
    const shared = readBytes(`${task.path}/environ`);
    if (typeof shared === 'string' || shared.length > 0) return shared;
  }
  return 'missing';
}

/** Those that live, or may. */
function liveTasks(pid: number): readonly ProcTask[] {
  const tasks = readTasks(pid);
  if (typeof tasks === 'string') return [];
  return tasks.filter(({ stat }) => (typeof stat === 'object' ? !isDead(stat.state) : stat === 'unreadable'));
}

/** A /proc that hides process 1 from us hides every process of another user. */
function hidesOwners(ownerUid: number): boolean {
  const uid = process.geteuid?.();
  return uid !== 0 && uid !== ownerUid && typeof readStat('/proc/1') === 'string';
}

function carries(environment: Buffer, mark: Buffer): boolean {
  const text = environment.at(-1) === 0 ? environment : Buffer.concat([environment, Buffer.alloc(1)]);
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    if (at === 0 || text[at - 1] === 0) return true;
  }
  return false;
}

function roleOf(identity: ProcRead<ProcIdentity>, pid: number): MarkedProcess['role'] {
  if (typeof identity === 'string') return 'other';
  if (identity.tgid === pid && identity.nsPids[0] === pid) return 'holder';
  return identity.nsPids.slice(1).includes(pid) ? 'nested' : 'other';
}

/** Another user's process on the number is not a candidate: the run is its directory's owner's. */
function mayBeTheRun(
  candidate: number,
  identity: ProcRead<ProcIdentity>,
  pid: number,
  ownerUid: number,
): boolean {
  if (typeof identity === 'string' || identity.realUid !== ownerUid) return false;
  if (roleOf(identity, pid) === 'other') return false;
  const stat = readStat(`/proc/${candidate}`);
  return !(typeof stat === 'object' && isDead(stat.state) && liveTasks(candidate).length === 0);
}
