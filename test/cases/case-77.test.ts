import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { type LaidRun, runAt } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { newRunIds } from '../support/new-run-id.ts';
import { DELIVERIES } from '../support/notices-of-all-sorts.ts';
import { jsonObject, layEnded, layLive, secondsAgo } from '../support/runs-of-all-sorts.ts';
import { startLion } from '../support/start-lion.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const DAY_S = 86_400;
const RUNS = 300;
/** Those of them that ended more than 30 days ago. */
const OLD_RUNS = 200;
const LOG_BYTES = 20_000;
const SPECIAL = { live: [0, 7, 250], undelivered: [3, 260], damaged: [5] };
const KEPT = Object.values(SPECIAL).flat();

interface History {
  readonly ids: readonly string[];
  /** What each of them holds, by its path. */
  texts(): Map<string, string>;
}

/** One a day and a half of over a year, the oldest first, each with a log; 200 of them older than 30 days. */
async function layHistory(world: World): Promise<History> {
  const idOf = newRunIds();
  for (let n = 0; n < RUNS; n++) {
    const daysAgo = n < OLD_RUNS ? 31 + OLD_RUNS - n : 1 + (RUNS - n) / 4;
    const members = {
      finished_at: secondsAgo(daysAgo * DAY_S),
      ...(SPECIAL.undelivered.includes(n) ? { notify_delivery: jsonObject(DELIVERIES.parked) } : {}),
    };
    const run: LaidRun = SPECIAL.live.includes(n)
      ? await layLive(world, idOf(n))
      : layEnded(world, idOf(n), 'completed', members);
    if (SPECIAL.damaged.includes(n)) writeFileSync(run.recordFile, run.text().slice(0, 40));
    mkdirSync(join(run.dir, 'artifacts'));
    for (const name of ['console.log', 'artifacts/report'])
      writeFileSync(join(run.dir, name), 'x'.repeat(LOG_BYTES));
  }
  return { ids: Array.from({ length: RUNS }, (_, n) => idOf(n)), texts: () => textsIn(world.jobs) };
}

function textsIn(directory: string): Map<string, string> {
  const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'job.lock')
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

function leftOf({ ids }: History, world: World): number[] {
  const names = new Set(readdirSync(world.jobs));
  return ids.flatMap((id, n) => (names.has(id) ? [n] : []));
}

const OLDER = ['job', 'prune', '--older-than', '30d'];

describe('case 77: history can be trimmed, the past included', () => {
  it('case 77: a dry run by age says what it would free and why the rest stays, and changes nothing; then it is done', async () => {
    await inWorld(async (world) => {
      const history = await layHistory(world);
      const before = history.texts();
      const protectedOld = KEPT.filter((n) => n < OLD_RUNS).length;
      const dry = await askData(world, OLDER);
      expect(dry).toMatchObject({
        dry_run: true,
        kept: { not_ended: 3, undelivered: 2, damaged: 1, outside_rule: RUNS - OLD_RUNS - 2 },
        failed: [],
        interrupted: false,
      });
      expect(dry.removed).toHaveLength(OLD_RUNS - protectedOld);
      expect(dry.bytes).toBeGreaterThan(dry.removed.length * 2 * LOG_BYTES);
      const { stdout } = await runLion(OLDER, world);
      expect(stdout).toMatch(/^Would remove 196 runs and free [\d.]+M\.\n/);
      expect(stdout).toContain('3 runs without a recorded end');
      expect(stdout).toContain('2 runs whose notice has not got through');
      expect(stdout).toContain('1 run with a damaged record');
      expect(history.texts()).toEqual(before);

      const done = await askData(world, [...OLDER, '--yes']);
      expect(done).toEqual({ ...dry, dry_run: false });
      const left = leftOf(history, world);
      expect(left).toEqual([...KEPT.filter((n) => n < OLD_RUNS), ...range(OLD_RUNS, RUNS)].sort(byNumber));
      for (const [path, text] of history.texts()) expect(before.get(path)).toBe(text);
      expect((await askData(world, ['job', 'list', '--limit', '500'])).jobs).toHaveLength(left.length);
    });
  });

  it('case 77: by size the oldest go first until the store is small enough, those that must stay counted in', async () => {
    await inWorld(async (world) => {
      const history = await layHistory(world);
      const { removed } = await askData(world, ['job', 'prune', '--max-size', '4M', '--yes']);
      const left = leftOf(history, world);
      const youngestRemoved = Math.max(...range(0, RUNS).filter((n) => !left.includes(n)));
      expect(left.filter((n) => n < youngestRemoved)).toEqual(
        KEPT.filter((n) => n < youngestRemoved).sort(byNumber),
      );
      const { removed: more } = await askData(world, ['job', 'prune', '--max-size', '4M']);
      expect([removed.length > 100, more]).toEqual([true, []]);
      const bytes = left.length * removed.at(-1).bytes;
      expect(bytes).toBeLessThan(5 * 1024 ** 2);
      expect(bytes).toBeGreaterThan(3 * 1024 ** 2);
    });
  });

  it('case 77: Ctrl-C in the middle stops it, says what was done, and leaves every other run whole', async () => {
    await inWorld(async (world) => {
      const history = await layHistory(world);
      const before = history.texts();
      const prune = startLion(world, [...OLDER, '--yes']);
      await waitUntil('some to be gone', () => readdirSync(world.jobs).length < RUNS - 10);
      prune.child.kill('SIGINT');
      const { code, stdout } = await prune.end;
      const gone = RUNS - leftOf(history, world).length;
      expect(code).toBe(130);
      expect(gone).toBeLessThan(190);
      expect(stdout).toContain(`Removed ${gone} runs and freed `);
      expect(stdout).toMatch(/Interrupted: \d+ runs not gone through/);
      const after = history.texts();
      const lost = [...before.keys()].filter((path) => !after.has(path));
      const removedDirs = new Set(lost.map((path) => path.slice(world.jobs.length + 1).split('/')[0]));
      expect(removedDirs.size).toBe(gone);
      await askData(world, [...OLDER, '--yes']);
      expect(leftOf(history, world)).toHaveLength(RUNS - 196);
    });
  });

  it('case 77: kill -9 in the middle leaves no run that the next one cannot remove', async () => {
    await inWorld(async (world) => {
      const history = await layHistory(world);
      for (let kills = 1; kills <= 4; kills++) {
        const there = readdirSync(world.jobs).length;
        const prune = startLion(world, [...OLDER, '--yes']);
        await waitUntil('some to be gone', () => readdirSync(world.jobs).length < there - 10);
        prune.child.kill('SIGKILL');
        expect((await prune.end).signal).toBe('SIGKILL');
        for (const n of leftOf(history, world)) {
          const names = readdirSync(join(world.jobs, history.ids[n] ?? ''));
          // Between the record and the directory there is nothing but the lock.
          expect(names.includes('job.json') || names.every((name) => name === 'job.lock')).toBe(true);
        }
      }
      const { failed, kept } = await askData(world, [...OLDER, '--yes']);
      expect(failed).toEqual([]);
      expect(leftOf(history, world)).toHaveLength(RUNS - 196 + (kept.reserved ?? 0));
      expect(kept.reserved ?? 0).toBeLessThanOrEqual(1);
    });
  });

  it('case 77: a supervisor that looks after the store takes it as it comes, and its list is the rest', async () => {
    await inWorld(async (world) => {
      const history = await layHistory(world);
      const supervisor = await startSupervisor(world);
      await askData(world, [...OLDER, '--yes']);
      const left = leftOf(history, world);
      expect(left).toHaveLength(RUNS - 196);
      const { jobs } = await askData(world, ['job', 'list', '--limit', '500']);
      expect(jobs).toHaveLength(left.length);
      const health = join(world.lionagiHome, 'mcp', 'liond', 'health.json');
      await waitUntil(
        'the supervisor to know',
        () => JSON.parse(readFileSync(health, 'utf8')).runs === left.length,
        60_000,
      );
      expect(supervisor.said()).not.toMatch(/fault|could not/);
    });
  });

  it('case 77: a late hook finds its run whole or gone, and brings none back', async () => {
    await inWorld(async (world) => {
      const idOf = newRunIds();
      const reaped = { terminal_source: 'mcp_orphan_reaper', outcome: 'indeterminate' };
      const laid = range(0, 40).map((n) =>
        layEnded(world, idOf(n), 'exited', { ...reaped, finished_at: secondsAgo(40 * DAY_S) }),
      );
      const late = laid[20] as LaidRun;
      for (const run of laid) writeFileSync(join(run.dir, 'console.log'), 'x'.repeat(LOG_BYTES));
      const hook = ['hook', 'terminal', '--run-id', late.runId, '--status', 'completed'];
      const hooks = range(0, 4).map(() => runLion(hook, world));
      const pruned = askData(world, [...OLDER, '--yes']);
      await Promise.all(hooks);
      const { removed, kept, failed } = await pruned;
      expect(removed.length + (kept.changed_meanwhile ?? 0)).toBe(40);
      expect(failed).toEqual([]);
      expect(readdirSync(world.jobs)).toHaveLength(40 - removed.length);
      if (existsSync(late.dir)) {
        expect(runAt(late.dir, late.runId).record().get('finished_at')).toBe(
          late.record().get('finished_at'),
        );
        expect(late.record().has('late_report')).toBe(true);
      }
      await runLion(hook, world);
      expect(readdirSync(world.jobs)).toHaveLength(40 - removed.length);
    });
  });
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

function byNumber(a: number, b: number): number {
  return a - b;
}
