import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { askData } from '../support/machine.ts';
import { layEnded, layLive, replaceRecord, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** All of them: `LION_DRILL_LISTED=5000 npx vitest run test/cases/case-57.test.ts` */
const asked = Number(process.env.LION_DRILL_LISTED ?? 0);
const RUNS = asked > 0 ? asked : 200;
const LISTS = asked > 0 ? 50 : 15;
/** Between the truncation and the write of an editor that does not replace. */
const GAP_MS = 20;

/** As a foreign editor saves a file in place. */
async function rewriteInPlace(run: LaidRun): Promise<void> {
  const text = run.text();
  const fd = openSync(run.recordFile, 'r+');
  try {
    ftruncateSync(fd);
    await sleep(GAP_MS);
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

describe('case 57: no run leaves the list while it is written to', () => {
  it(`case 57: ${RUNS} runs, replaced and rewritten in place all along: each of ${LISTS} lists has them all, and afterwards all are whole`, async () => {
    await inWorld(async (world) => {
      const runs: LaidRun[] = [await layLive(world, runIdOf(0))];
      for (let n = 1; n < RUNS; n++) runs.push(layEnded(world, runIdOf(n), 'completed'));
      await startSupervisor(world);
      let isOver = false;
      let [replaced, truncated] = [0, 0];
      const writing = (async () => {
        while (!isOver) {
          const run = runs[Math.floor(Math.random() * runs.length)] as LaidRun;
          if (Math.random() < 0.5) {
            await rewriteInPlace(run);
            truncated++;
          } else {
            replaceRecord(run, { note: `${replaced++}` });
            await sleep(1);
          }
        }
      })();
      const states = new Set<string>();
      for (let n = 0; n < LISTS; n++) {
        const { jobs } = await askData(world, ['job', 'list', '--limit', String(RUNS + 1000)]);
        expect(jobs.map((job: { run_id: string }) => job.run_id).sort()).toEqual(
          runs.map((run) => run.runId).sort(),
        );
        for (const job of jobs) states.add(job.record_state);
      }
      isOver = true;
      await writing;
      expect([replaced, truncated].every((count) => count > LISTS)).toBe(true);
      // A list met a record in the middle of a write: it was a row that said so.
      expect([...states].filter((state) => !['ok', 'unreadable'].includes(state))).toEqual([]);
      await waitUntil('all rows to be good again', async () => {
        const { jobs } = await askData(world, ['job', 'list', '--limit', String(RUNS + 1000)]);
        return (
          jobs.length === RUNS &&
          jobs.every((job: { record_state: string; terminal: boolean; run_id: string }) => {
            return job.record_state === 'ok' && job.terminal === (job.run_id !== runIdOf(0));
          })
        );
      });
    });
  }, 600_000);
});
