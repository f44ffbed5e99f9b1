import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { layEnded, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';

/** All of it, with the figures printed: `LION_DRILL_ENDED=100000 npx vitest run test/drills/idle.test.ts` */
const asked = Number(process.env.LION_DRILL_ENDED ?? 0);
const ENDED = asked > 0 ? asked : 2_000;
const OPEN = asked > 0 ? 30 : 10;
const SETTLE_MS = asked > 0 ? 60_000 : 3_000;
const WATCHED_MS = asked > 0 ? 120_000 : 6_000;
/** Of a core. On a busy machine every tick is dearer. */
const MOST_CPU = asked > 0 ? 0.01 : 0.1;
const MOST_RSS_KB = 150 * 1024;

/** Seconds of CPU that a process has had, its ended children with it. */
function cpuOf(pid: number): { own: number; children: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number);
  const at = (n: number): number => (fields[n - 3] ?? 0) / 100;
  return { own: at(14) + at(15), children: at(16) + at(17) };
}

function watchesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`)
    .filter((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === 'anon_inode:inotify')
    .flatMap((fd) => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8').match(/^inotify /gm) ?? []).length;
}

function rssKbOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

it(`case 67: idle at ${ENDED} ended and ${OPEN} open runs it starts nothing, watches the open ones alone, and costs next to nothing`, async () => {
  await inWorld(async (world) => {
    for (let n = 0; n < ENDED; n++)
      layEnded(world, runIdOf(n), 'completed', { finished_at: '2026-01-01T00:00:00+00:00' });
    for (let n = 0; n < OPEN; n++) await layLive(world, runIdOf(ENDED + n));
    const { pid } = await startSupervisor(world);
    await sleep(SETTLE_MS);
    const before = cpuOf(pid);
    const rssBeforeKb = rssKbOf(pid);
    await sleep(WATCHED_MS);
    const after = cpuOf(pid);
    const cpu = (after.own - before.own) / (WATCHED_MS / 1000);
    const [rssKb, watches] = [rssKbOf(pid), watchesOf(pid)];
    if (asked > 0)
      process.stdout.write(
        `idle, ${ENDED} ended, ${OPEN} open: ${(cpu * 100).toFixed(2)} % of a core, ${Math.round(rssKb / 1024)} MB, ${watches} watches\n`,
      );
    expect(after.children).toBe(before.children);
    expect(watches).toBe(2 * OPEN + 2);
    expect(cpu).toBeLessThan(MOST_CPU);
    expect(rssKb).toBeLessThan(MOST_RSS_KB);
    expect(rssKb - rssBeforeKb).toBeLessThan(20 * 1024);
  });
}, 600_000);
