import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { layLive, replaceRecord, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

const RUNS = 10;
const REPLACES = 20;

describe('case 53: records replaced by rename, again and again', () => {
  it('case 53: the index has the last of 20 quick replaces of each of 10 runs, and never loses one', async () => {
    await inWorld(async (world) => {
      const runs = await Promise.all(Array.from({ length: RUNS }, (_, n) => layLive(world, runIdOf(n))));
      await startSupervisor(world);
      const file = join(world.lionagiHome, 'mcp', 'liond', 'index.sqlite3');
      const index = new Database(file, { readonly: true });
      world.onDispose(() => void index.close());
      const labels = (): unknown[] => index.prepare('SELECT label FROM runs ORDER BY run_id').pluck().all();
      await waitUntil('a row for each', () => labels().length === RUNS);
      let fewest = RUNS;
      for (let n = 1; n <= REPLACES; n++) {
        for (const run of runs) replaceRecord(run, { label: `${n}` });
        await sleep(50);
        fewest = Math.min(fewest, labels().length);
      }
      await waitUntil('the last of each', () => labels().every((label) => label === `${REPLACES}`), 10_000);
      expect(fewest).toBe(RUNS);
    });
  });
});
