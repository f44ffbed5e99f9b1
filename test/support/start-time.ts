import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface StartTime {
  ticks: number;
  /** Seconds since the epoch, in doubles as psutil computes it: start ticks / CLK_TCK + boot time. */
  createTime: number;
}

const TICKS_A_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

export function startTimeOf(pid: number): StartTime {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(afterName[19]);
  return { ticks, createTime: ticks / TICKS_A_SECOND + bootTime() };
}

function bootTime(): number {
  const line = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'));
  if (!line) throw new Error('no btime in /proc/stat');
  return Number(line[1]);
}
