import { readdirSync, readlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { listGroups } from '../../../daemon/usage/list-groups.ts';
import { readMeters } from '../../../daemon/usage/read-meters.ts';
import { startSleeper, startZombie } from '../../support/processes.ts';
import { startChurn, startHolding } from '../../support/resource-users.ts';

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

function descriptorsOfStats(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${name}`);
      return /^\/proc\/\d+\/stat/.test(file) ? [file] : [];
    } catch {
      return []; // the one of the listing
    }
  });
}

describe.skipIf(process.platform !== 'linux')('reading meters', () => {
  it('leaves no descriptor open over 2,000 processes that end as they are looked at', async () => {
    const churn = await keep(startChurn(2_000));
    const seen = new Set<number>();
    let [read, most] = [0, 0];
    while (churn.child.exitCode === null && churn.child.signalCode === null) {
      const pids = (await listGroups(signal))?.members.get(churn.pid) ?? [];
      for (const pid of pids) seen.add(pid);
      read += (await readMeters(pids, signal)).size;
      most = Math.max(most, descriptorsOfStats().length);
    }
    expect(seen.size).toBeGreaterThan(500);
    expect(read).toBeGreaterThan(500);
    expect(most).toBe(0);
  });

  it('takes two calls at once one after the other: the first closes nothing that the second reads', async () => {
    const user = await keep(startHolding(0, 40));
    const pids = (await listGroups(signal))?.members.get(user.pid) ?? [];
    for (let round = 0; round < 100; round++) {
      const calls = [pids.slice(-1), pids].map((some) => readMeters(some, signal));
      expect((await Promise.all(calls)).map((meters) => meters.size)).toEqual([1, 40]);
    }
    expect(descriptorsOfStats()).toEqual([]);
  });

  it('leaves out one that has gone, alone and beside others, and one that is a zombie', async () => {
    const [gone, sleeper] = [await startSleeper(null), await keep(startSleeper(null))];
    const zombie = await keep(startZombie(null));
    await gone.stop();
    expect((await readMeters([gone.pid], signal)).size).toBe(0);
    expect([...(await readMeters([gone.pid, sleeper.pid, zombie.pid], signal)).keys()]).toEqual([
      sleeper.pid,
    ]);
    expect((await readMeters([], signal)).size).toBe(0);
  });
});
