import { readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { linuxProcesses } from '../../../shared/process/linux.ts';
import { scanForMark, surveyMarks } from '../../../shared/process/linux-marks.ts';
import { parseStat } from '../../../shared/process/proc-files.ts';
import type { MarkedProcess } from '../../../shared/process/table.ts';
import {
  startExecuting,
  startLeaderless,
  startNamed,
  startSleep,
  startStopped,
  startThreaded,
  startUndumpable,
  startWithoutLastNul,
} from '../../support/live-runs.ts';
import { whyNoNamespaces } from '../../support/namespaces.ts';
import { freeNumber, startNested } from '../../support/nested-runs.ts';
import { startSleeper, startZombie } from '../../support/processes.ts';
import { runPython } from '../../support/python.ts';
import { waitUntil } from '../../support/wait-until.ts';

const why = whyNoNamespaces();
const needsNamespaces = why === null ? '' : ` (skipped: ${why})`;
const onLinux = describe.skipIf(process.platform !== 'linux');

/** Made anew for each test: a mark of another test is none of this one's. */
let marks = 0;
const newMark = () =>
  `20260101T000000-${(process.pid * 1000 + marks++).toString(16).padStart(6, '0').slice(-6)}`;

const started: { stop: () => Promise<void> }[] = [];
async function keep<T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> {
  const process = await starting;
  started.push(process);
  return process;
}
afterEach(async () => {
  for (const process of started.splice(0)) await process.stop();
});

const ownUid = process.getuid?.() ?? 0;
function marked(mark: string, pid: number): readonly MarkedProcess[] {
  return scanForMark(mark, pid, ownUid).marked;
}

describe('the line of /proc/PID/stat', () => {
  const line = (name: string, state = 'S') =>
    `77 (${name}) ${state} 1 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 2 3 4\n`;

  it.each(['sleep', 'we (ird) 9 S', ') Z 0', '((((', 'a) Z 1 2 3 (b', '', ' ', '\n) Z', 'é) R'])(
    'is counted from its last bracket, whatever the process calls itself: %j',
    (name) => {
      expect(parseStat(line(name))).toMatchObject({ state: 'S', startTicks: 4711 });
    },
  );

  it('tells that it could not be read as no state and no ticks', () => {
    expect(parseStat('')).toMatchObject({ startTicks: Number.NaN });
  });
});

onLinux('a look at a process', () => {
  it('sees a live one with the start time that Python computes from ticks and boot time', async () => {
    const { pid, ticks } = await keep(startSleeper(null));
    const formula = `
import os, re, sys
stat = open("/proc/%s/stat" % sys.argv[1]).read()
ticks = int(stat[stat.rindex(")") + 2:].split()[19])
boot = int(re.search("^btime ([0-9]+)$", open("/proc/stat").read(), re.M).group(1))
print(repr(ticks / os.sysconf("SC_CLK_TCK") + boot))`;
    const createTime = Number(await runPython(formula, { args: [String(pid)] }));
    expect(linuxProcesses.sight(pid)).toEqual({ kind: 'live', createTime, startTicks: ticks });
  });

  it('case 10: reads past a name that looks like the rest of the line', async () => {
    const named = await keep(startNamed('we (ird) 9 S', { mark: null }));
    const { createTime, ticks } = named;
    expect(linuxProcesses.sight(named.pid)).toEqual({ kind: 'live', createTime, startTicks: ticks });
  });

  it('sees a stopped one as live', async () => {
    const { pid } = await keep(startStopped({ mark: null }));
    expect(linuxProcesses.sight(pid).kind).toBe('live');
  });

  it('sees nobody where there is nobody', async () => {
    const sleeper = await startSleeper(null);
    await sleeper.stop();
    expect(linuxProcesses.sight(sleeper.pid)).toEqual({ kind: 'absent' });
    expect(linuxProcesses.sight(2 ** 31 - 1)).toEqual({ kind: 'absent' });
  });

  it('case 10: sees a zombie that its parent does not collect as vanished, though signal 0 reaches it', async () => {
    const { pid } = await keep(startZombie(null));
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect(linuxProcesses.sight(pid)).toEqual({ kind: 'vanished' });
  });

  it('sees one whose main thread has exited while another lives as live', async () => {
    const leaderless = await keep(startLeaderless({ mark: null }));
    const { createTime, ticks } = leaderless;
    expect(linuxProcesses.sight(leaderless.pid)).toEqual({ kind: 'live', createTime, startTicks: ticks });
  });

  it('sees it vanish when that other thread is gone too', async () => {
    const { pid } = await keep(startLeaderless({ mark: null }));
    const seen = new Set<string>();
    process.kill(pid, 'SIGKILL');
    await waitUntil('the process to be gone', () => {
      seen.add(linuxProcesses.sight(pid).kind);
      return seen.has('absent');
    });
    seen.delete('live');
    seen.delete('vanished');
    expect([...seen]).toEqual(['absent']);
  });

  it('stands where the kernel says it stands', async () => {
    const standpoint = linuxProcesses.standpoint();
    const told = `
import os
print(os.stat("/proc/self/ns/pid").st_ino, open("/proc/sys/kernel/random/boot_id").read().strip())`;
    const [namespace, bootId] = (await runPython(told)).trim().split(' ');
    expect(standpoint.origin).toMatchObject({ pidNamespace: Number(namespace), bootId });
    expect(standpoint.procIsOurs).toBe(true);
    expect(standpoint.initialNamespace).toBe(Number(namespace) === 4026531836);
  });
});

onLinux('the scan for the mark of a run', () => {
  it('finds the holder of the pid, and survivors by their own pids', async () => {
    const mark = newMark();
    const [holder, other] = [await keep(startSleep({ mark })), await keep(startSleep({ mark }))];
    await keep(startSleep({ mark: newMark() }));
    await keep(startSleep({ mark: null }));
    const found = [...marked(mark, holder.pid)].sort((a, b) => a.pid - b.pid);
    expect(found).toEqual(
      [
        { pid: holder.pid, role: 'holder' },
        { pid: other.pid, role: 'other' },
      ].sort((a, b) => a.pid - b.pid),
    );
  });

  it('matches whole entries of an environment and nothing shorter or longer', async () => {
    const mark = newMark();
    const { spawn } = await import('node:child_process');
    const almost = [
      { LIONAGI_MCP_JOB_RUN_ID: `${mark}x` },
      { LIONAGI_MCP_JOB_RUN_ID: mark.slice(0, -1) },
      { XLIONAGI_MCP_JOB_RUN_ID: mark },
      { OTHER: `LIONAGI_MCP_JOB_RUN_ID=${mark}` },
      { OTHER: `a\nLIONAGI_MCP_JOB_RUN_ID=${mark}` },
      { LIONAGI_MCP_JOB_RUN_ID: ` ${mark}` },
      { lionagi_mcp_job_run_id: mark },
    ];
    const children = almost.map((env) =>
      spawn('sleep', ['3600'], { env: { PATH: '/usr/bin:/bin', ...env } }),
    );
    for (const child of children) started.push({ stop: async () => void child.kill('SIGKILL') });
    expect(marked(mark, children[0]?.pid ?? 0)).toEqual([]);
    // The same entry behind another that ends as it begins is found.
    const really = spawn('sleep', ['3600'], {
      env: { A: 'LIONAGI_MCP_JOB_RUN_ID=', LIONAGI_MCP_JOB_RUN_ID: mark, Z: 'z' },
    });
    started.push({ stop: async () => void really.kill('SIGKILL') });
    expect(marked(mark, 2)).toEqual([{ pid: really.pid, role: 'other' }]);
  });

  it('finds the mark where the environment does not end with a NUL', async () => {
    const mark = newMark();
    const { pid } = await keep(startWithoutLastNul({ mark }));
    expect(marked(mark, pid)).toEqual([{ pid, role: 'holder' }]);
  });

  it('finds the mark of a process whose main thread has exited, since another of its tasks lives', async () => {
    const mark = newMark();
    const { pid } = await keep(startLeaderless({ mark }));
    expect(marked(mark, pid)).toEqual([{ pid, role: 'holder' }]);
  });

  it('never takes a process for another while it executes a program: its environment is empty for a moment', async () => {
    const mark = newMark();
    const { pid } = await keep(startExecuting({ mark }));
    const looks = Array.from({ length: 150 }, () => scanForMark(mark, pid, ownUid));
    const missed = looks.filter((scan) => scan.marked.length === 0 && !scan.unreadableCandidate);
    expect(missed).toHaveLength(0);
  });

  it('answers for many runs from one pass over the processes', async () => {
    const [first, second, nobodys] = [newMark(), newMark(), newMark()];
    const [one, two] = [await keep(startSleep({ mark: first })), await keep(startSleep({ mark: second }))];
    const survey = surveyMarks();
    expect(survey(first, one.pid, ownUid).marked).toEqual([{ pid: one.pid, role: 'holder' }]);
    expect(survey(second, one.pid, ownUid).marked).toEqual([{ pid: two.pid, role: 'other' }]);
    expect(survey(nobodys, one.pid, ownUid)).toEqual({ marked: [], unreadableCandidate: false });
  });

  it('finds no mark on a true zombie, and takes it for no candidate', async () => {
    const mark = newMark();
    const { pid } = await keep(startZombie(mark));
    expect(scanForMark(mark, pid, ownUid)).toEqual({ marked: [], unreadableCandidate: false });
  });

  it('takes a thread of a process for no holder of the number', async () => {
    const mark = newMark();
    const threaded = await keep(startThreaded({ mark }));
    const thread = readdirSync(`/proc/${threaded.pid}/task`)
      .map(Number)
      .find((task) => task !== threaded.pid);
    expect(thread).toBeTypeOf('number');
    expect(marked(mark, thread ?? 0)).toEqual([{ pid: threaded.pid, role: 'other' }]);
    expect(scanForMark(newMark(), thread ?? 0, ownUid).unreadableCandidate).toBe(false);
  });
});

describe.skipIf(why !== null)(`the scan across users and namespaces${needsNamespaces}`, () => {
  const UID = 54_351;

  it('finds a process that has the pid in its own namespace, held by nobody in ours', async () => {
    const mark = newMark();
    const { pid, recordedPid } = await keep(startNested({ mark, uid: UID }, { number: freeNumber() }));
    expect(recordedPid).not.toBe(pid);
    expect(linuxProcesses.sight(recordedPid)).toEqual({ kind: 'absent' });
    expect(marked(mark, recordedPid)).toEqual([{ pid, role: 'nested' }]);
    expect(marked(mark, pid)).toEqual([{ pid, role: 'holder' }]);
    expect(marked(mark, 2)).toEqual([{ pid, role: 'other' }]);
  });

  it('finds it too where another process holds that number here', async () => {
    const mark = newMark();
    const holder = await keep(startSleep({ mark: null }));
    const { pid } = await keep(startNested({ mark, uid: UID }, { number: holder.pid }));
    expect(marked(mark, holder.pid)).toEqual([{ pid, role: 'nested' }]);
  });

  it('tells root all about a process that is undumpable', async () => {
    const mark = newMark();
    const { pid } = await keep(startUndumpable({ mark, uid: UID }));
    const scan = scanForMark(mark, pid, UID);
    expect(scan).toEqual({ marked: [{ pid, role: 'holder' }], unreadableCandidate: false });
  });
});
