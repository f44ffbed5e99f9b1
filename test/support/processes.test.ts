import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isThere, startGroupSurvivors, startSleeper, startZombie } from './processes.ts';
import { startTimeOf } from './start-time.ts';
import { waitUntil } from './wait-until.ts';

const MARK = 'LIONAGI_MCP_JOB_RUN_ID';

function stateOf(pid: number): string | undefined {
  return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
}

function groupOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

function environmentOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
}

describe('processes for records to point at', () => {
  it('starts a live one that leads its group and carries the mark', async () => {
    const started = await startSleeper('r1');
    expect(environmentOf(started.pid)).toContain(`${MARK}=r1`);
    expect(groupOf(started.pid)).toBe(started.pgid);
    expect(startTimeOf(started.pid).createTime).toBe(started.createTime);
    expect(Math.abs(started.createTime * 1000 - Date.now())).toBeLessThan(10_000);
    await started.stop();
    expect(isThere(started.pid)).toBe(false);
  });

  it('starts a live one without the mark', async () => {
    const started = await startSleeper(null);
    expect(environmentOf(started.pid).filter((line) => line.startsWith(MARK))).toEqual([]);
    await started.stop();
  });

  it('leaves a zombie of another parent until it is stopped', async () => {
    const started = await startZombie('r2');
    expect(stateOf(started.pid)).toBe('Z');
    expect(startTimeOf(started.pid).ticks).toBe(started.ticks);
    await started.stop();
    await waitUntil('the zombie to be collected', () => !isThere(started.pid));
  });

  it('leaves the members of a group whose leader is gone', async () => {
    const started = await startGroupSurvivors(['r3', null]);
    expect(isThere(started.pid)).toBe(false);
    expect(started.members.map(groupOf)).toEqual([started.pgid, started.pgid]);
    const marks = started.members.map((pid) => environmentOf(pid).find((line) => line.startsWith(MARK)));
    expect(marks).toEqual([`${MARK}=r3`, undefined]);
    await started.stop();
    expect(started.members.map(isThere)).toEqual([false, false]);
  });
});
