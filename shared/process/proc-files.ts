import { readdirSync, readFileSync } from 'node:fs';
import { errnoOf, hasCode } from '../errno.ts';

/** The kernel's USER_HZ: fixed at 100 in its interface on every architecture that runs Node. */
export const CLOCK_TICKS_PER_S = 100;

export interface ProcStat {
  /** `R`, `S`, `Z` ... */
  readonly state: string;
  readonly groupId: number;
  readonly startTicks: number;
}

/** `missing`: no such process or task; `unreadable`: it is there and hidden from us. */
export type ProcRead<T> = T | 'missing' | 'unreadable';

/** `path` is `/proc/<pid>` or `/proc/<pid>/task/<tid>`. */
export function readStat(path: string): ProcRead<ProcStat> {
  const text = readText(`${path}/stat`);
  return text === 'missing' || text === 'unreadable' ? text : parseStat(text);
}

/** The name in brackets may hold blanks and brackets of its own: fields count from the last one. */
export function parseStat(text: string): ProcStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '?', groupId: Number(fields[2]), startTicks: Number(fields[19]) };
}

export interface ProcTask {
  /** `/proc/<pid>/task/<tid>` */
  readonly path: string;
  readonly stat: ProcRead<ProcStat>;
}

/** The main thread may exit before the others: a zombie leader is dead only when they all are. */
export function readTasks(pid: number): ProcRead<readonly ProcTask[]> {
  const dir = `/proc/${pid}/task`;
  try {
    return readdirSync(dir).map((task) => ({ path: `${dir}/${task}`, stat: readStat(`${dir}/${task}`) }));
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return hasCode(error, 'ENOENT', 'ESRCH') ? 'missing' : 'unreadable';
  }
}

/** Null where /proc cannot be listed: that is not an empty list, and proves nothing. */
export function listPids(): number[] | null {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}

/** Whole seconds since the epoch at which the machine started, by the clock as it is now. */
export function readBootTimeS(): ProcRead<number> {
  const text = readText('/proc/stat');
  if (text === 'missing' || text === 'unreadable') return 'unreadable';
  const line = /^btime (\d+)$/m.exec(text);
  return line === null ? 'unreadable' : Number(line[1]);
}

/** `Z` and `X`: it has ended and is only not collected yet. */
export function isDead(state: string): boolean {
  return state === 'Z' || state === 'X' || state === 'x';
}

/** By the clock as it is now; null where that cannot be read. */
export function createTimeOf(stat: ProcStat): number | null {
  const bootTimeS = readBootTimeS();
  if (typeof bootTimeS !== 'number' || !Number.isFinite(stat.startTicks)) return null;
  return stat.startTicks / CLOCK_TICKS_PER_S + bootTimeS;
}

export interface ProcIdentity {
  readonly tgid: number;
  readonly realUid: number;
  /** Pids from the outermost namespace we see to the process's own. */
  readonly nsPids: readonly number[];
}

export function readIdentity(pid: number): ProcRead<ProcIdentity> {
  const text = readText(`/proc/${pid}/status`);
  if (text === 'missing' || text === 'unreadable') return text;
  const field = (name: string): number[] =>
    (new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(text)?.[1] ?? '').split(/\s+/).filter(Boolean).map(Number);
  return { tgid: field('Tgid')[0] ?? -1, realUid: field('Uid')[0] ?? -1, nsPids: field('NSpid') };
}

export function readText(path: string): ProcRead<string> {
  const bytes = readBytes(path);
  return typeof bytes === 'string' ? bytes : bytes.toString('latin1');
}

export function readBytes(path: string): ProcRead<Buffer> {
  try {
    return readFileSync(path);
  } catch (error) {
    const code = errnoOf(error);
    return code === 'ENOENT' || code === 'ESRCH' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
  }
}
