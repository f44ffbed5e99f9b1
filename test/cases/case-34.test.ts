import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { layEnded, layGone, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** The name sweep, and a busy machine. */
const WITHIN_MS = 40_000;

const changes: readonly (readonly [string, (world: World) => Promise<void>])[] = [
  [
    'removed, and made anew half a second later',
    async ({ jobs }) => {
      rmSync(jobs, { recursive: true });
      await sleep(500);
      mkdirSync(jobs);
    },
  ],
  [
    'renamed aside, and a fresh one made',
    async ({ jobs }) => {
      renameSync(jobs, `${jobs}.aside`);
      mkdirSync(jobs);
    },
  ],
  [
    'behind a link that now leads elsewhere',
    async ({ jobs }) => {
      mkdirSync(`${jobs}.elsewhere`);
      unlinkSync(jobs);
      symlinkSync(`${jobs}.elsewhere`, jobs);
    },
  ],
];

describe('case 34: the watched root becomes another one', () => {
  it.each(changes)('case 34: %s: new runs are found, old rows go, and it is said', async (how, change) => {
    await inWorld(async (world) => {
      if (how.includes('link')) {
        mkdirSync(join(world.lionagiHome, 'mcp'), { recursive: true });
        mkdirSync(`${world.jobs}.first`);
        symlinkSync(`${world.jobs}.first`, world.jobs);
      }
      for (const n of [1, 2, 3]) layEnded(world, runIdOf(n), 'completed');
      await startSupervisor(world);
      await change(world);
      const run = await layGone(world, runIdOf(10));
      await waitUntil('the new run to be ended', () => run.record().get('finished_at'), WITHIN_MS);
      const health = async () => (await askData(world, ['daemon', 'status'])).health;
      await waitUntil('the old ones to be forgotten', async () => (await health())?.runs === 1, WITHIN_MS);
      expect((await askData(world, ['job', 'list'])).jobs).toMatchObject([{ run_id: run.runId }]);
      expect(supervisorEvents(world, 'desynced').length).toBeGreaterThan(0);
      // Watched again: found without a sweep.
      const next = await layGone(world, runIdOf(11));
      await waitUntil('the next one to be ended', () => next.record().get('finished_at'), WITHIN_MS);
    });
  });
});
