import { afterEach, describe, expect, it } from 'vitest';
import { listGroups } from '../../../daemon/usage/list-groups.ts';
import { UsageKeeper } from '../../../daemon/usage/usage-keeper.ts';
import { startLeaderless } from '../../support/live-runs.ts';
import { startGroupSurvivors, startSleeper, startZombie } from '../../support/processes.ts';
import { cpuMsOf, startBusy, startGivingBack, startHolding } from '../../support/resource-users.ts';
import { waitUntil } from '../../support/wait-until.ts';

const MB = 1024 * 1024;
const { signal } = new AbortController();

const started: { stop(): Promise<void> }[] = [];
async function keep<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const process = await starting;
  started.push(process);
  return process;
}
afterEach(async () => {
  for (const process of started.splice(0)) await process.stop();
});

const run = (pid: number, runId = `run-${pid}`) => ({ runId, pid, pgid: pid });
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The CPU use of a second, as sampled and as the scheduler counted it for these processes. */
async function percentAndExpected(keeper: UsageKeeper, pid: number, pids: readonly number[]) {
  const used = () => pids.reduce((sum, each) => sum + cpuMsOf(each), 0);
  await sampleOne(keeper, pid);
  const [fromMs, fromUsedMs] = [performance.now(), used()];
  await wait(1_000);
  const percent = (await sampleOne(keeper, pid)).cpuPercent ?? 0;
  return { percent, expected: ((used() - fromUsedMs) / (performance.now() - fromMs)) * 100 };
}

async function sampleOne(keeper: UsageKeeper, pid: number) {
  const [sample] = await keeper.sample([run(pid)], signal);
  if (sample === undefined) throw new Error(`no sample of ${pid}`);
  return sample;
}

describe.skipIf(process.platform !== 'linux')('the CPU use of a run', () => {
  it('is since its process began in the first sample, and since the sample before in the next', async () => {
    const beforeMs = performance.now();
    const { pid } = await keep(startBusy());
    const begunMs = performance.now();
    const keeper = new UsageKeeper();
    await wait(1_000);
    const usedMs = cpuMsOf(pid);
    const first = (await sampleOne(keeper, pid)).cpuPercent ?? 0;
    // Others may share the machine: a busy loop uses what it gets, which the scheduler counts by itself.
    expect(first).toBeGreaterThan((usedMs / (performance.now() - beforeMs)) * 100 - 5);
    expect(first).toBeLessThan((cpuMsOf(pid) / (performance.now() - begunMs)) * 100 + 5);
    const second = await percentAndExpected(keeper, pid, [pid]);
    expect(second.percent).toBeGreaterThan(20);
    expect(Math.abs(second.percent - second.expected)).toBeLessThan(8);
  });

  it('falls to a real zero when it stops, however busy it was before', async () => {
    const { pid } = await keep(startBusy());
    const keeper = new UsageKeeper();
    await wait(300);
    process.kill(pid, 'SIGSTOP');
    expect((await sampleOne(keeper, pid)).cpuPercent).toBeGreaterThan(0);
    await wait(300);
    expect((await sampleOne(keeper, pid)).cpuPercent).toBe(0);
  });

  it('adds up over its group', async () => {
    const { pid } = await keep(startBusy(3));
    const pids = (await listGroups(signal))?.members.get(pid) ?? [];
    expect(pids).toHaveLength(3);
    const keeper = new UsageKeeper();
    const { percent, expected } = await percentAndExpected(keeper, pid, pids);
    // The leader alone has a third of it.
    expect(percent).toBeGreaterThan(expected * 0.8);
    expect(percent).toBeLessThan(expected * 1.2);
  });
});

describe.skipIf(process.platform !== 'linux')('the memory of a run', () => {
  it('is what its process holds', async () => {
    const { pid } = await keep(startHolding(200 * MB));
    const { rssBytes, cpuPercent, processes } = await sampleOne(new UsageKeeper(), pid);
    expect(rssBytes).toBeGreaterThan(200 * MB);
    expect(rssBytes).toBeLessThan(240 * MB);
    expect(cpuPercent).toBeGreaterThanOrEqual(0);
    expect(processes).toBe(1);
  });

  it('adds up over its group, of the members that live', async () => {
    const { pid } = await keep(startHolding(50 * MB, 3));
    const { rssBytes, processes } = await sampleOne(new UsageKeeper(), pid);
    expect(rssBytes).toBeGreaterThan(150 * MB);
    expect(rssBytes).toBeLessThan(210 * MB);
    expect(processes).toBe(3);
  });

  it('keeps its peak after it was given back, and takes an earlier one from before the first sample', async () => {
    const user = await keep(startGivingBack(100 * MB));
    const keeper = new UsageKeeper();
    const high = await sampleOne(keeper, user.pid);
    expect(high.rssBytes).toBeGreaterThan(100 * MB);
    expect(high.peakRssBytes).toBe(high.rssBytes);
    await user.giveBack();
    const low = await sampleOne(keeper, user.pid);
    expect(low.rssBytes).toBeLessThan(50 * MB);
    expect(low.peakRssBytes).toBe(high.rssBytes);
    const restarted = new UsageKeeper();
    const asked = { ...run(user.pid), earlierPeakRssBytes: 123 * MB };
    expect((await restarted.sample([asked], signal))[0]?.peakRssBytes).toBe(123 * MB);
    expect((await sampleOne(restarted, user.pid)).peakRssBytes).toBe(123 * MB);
  });

  it('has its peak forgotten when the run is no longer among those that are alive', async () => {
    const user = await keep(startGivingBack(100 * MB));
    const keeper = new UsageKeeper();
    await sampleOne(keeper, user.pid);
    await user.giveBack();
    await keeper.sample([], signal);
    const { rssBytes, peakRssBytes } = await sampleOne(keeper, user.pid);
    expect(peakRssBytes).toBe(rssBytes);
  });
});

describe.skipIf(process.platform !== 'linux')('whose processes are counted', () => {
  it('not those of a group whose leader is gone: the number may be another group by now', async () => {
    const { pid, members } = await keep(startGroupSurvivors([null, null]));
    expect(members).toHaveLength(2);
    expect(await new UsageKeeper().sample([run(pid)], signal)).toEqual([]);
  });

  it('not those of a group that the recorded process is not in', async () => {
    const [one, other] = [await keep(startSleeper(null)), await keep(startSleeper(null))];
    const asked = { runId: 'strayed', pid: one.pid, pgid: other.pid };
    expect(await new UsageKeeper().sample([asked], signal)).toEqual([]);
  });

  it('not a zombie, and not one whose main thread has exited: its meters say nothing', async () => {
    const zombie = await keep(startZombie(null));
    const leaderless = await keep(startLeaderless({ mark: null }));
    expect(await new UsageKeeper().sample([run(zombie.pid), run(leaderless.pid)], signal)).toEqual([]);
  });

  it('a run that is gone costs no other its sample', async () => {
    const [sleeper, gone] = [await keep(startSleeper(null)), await startSleeper(null)];
    const keeper = new UsageKeeper(() => 1_790_000_000_000);
    expect(await keeper.sample([run(gone.pid), run(sleeper.pid)], signal)).toHaveLength(2);
    await gone.stop();
    const samples = await keeper.sample([run(gone.pid), run(sleeper.pid)], signal);
    expect(samples).toEqual([
      {
        runId: `run-${sleeper.pid}`,
        sampledMs: 1_790_000_000_000,
        cpuPercent: 0,
        rssBytes: expect.any(Number),
        peakRssBytes: expect.any(Number),
        processes: 1,
      },
    ]);
    expect(samples[0]?.rssBytes).toBeGreaterThan(0);
  });
});

describe('a sample that is not taken', () => {
  it('after an abort', async () => {
    const sleeper = await keep(startSleeper(null));
    expect(await new UsageKeeper().sample([run(sleeper.pid)], AbortSignal.abort())).toEqual([]);
  });

  it('of no runs, and of one that is gone alone', async () => {
    const gone = await startSleeper(null);
    await gone.stop();
    await waitUntil('it to be gone', async () => {
      const samples = await new UsageKeeper().sample([run(gone.pid)], signal);
      return samples.length === 0;
    });
    expect(await new UsageKeeper().sample([], signal)).toEqual([]);
  });
});
