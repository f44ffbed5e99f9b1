import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { stateOf } from '../support/live-runs.ts';
import {
  endNow,
  jsonObject,
  layAdvisory,
  layEnded,
  noticeOf,
  replaceRecord,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** All of them, with the time printed: `LION_DRILL_CHANGES=60000 npx vitest run test/drills/thaw.test.ts` */
const asked = Number(process.env.LION_DRILL_CHANGES ?? 0);
const CHANGES = asked > 0 ? asked : 3_000;
const CHANGES_A_RUN = 10;
const RUNS_OF_EACH = CHANGES / CHANGES_A_RUN / 2;
/** Longer than a gap that the supervisor takes for a busy moment. */
const LEAST_FROZEN_MS = 8_000;
const WITHIN_MS = 60_000 + CHANGES * 10;

/** Half open without a process that could be asked about, half ended and told of long ago. */
function layRuns(world: World): { open: LaidRun[]; ended: LaidRun[] } {
  const told = {
    notify_command: '["/bin/false"]',
    notify_delivery: jsonObject({ attempted: true, ok: true }),
  };
  const ids = Array.from({ length: 2 * RUNS_OF_EACH }, (_, n) => runIdOf(n));
  return {
    open: ids.slice(0, RUNS_OF_EACH).map((id) => layAdvisory(world, id)),
    ended: ids.slice(RUNS_OF_EACH).map((id) => layEnded(world, id, 'completed', told)),
  };
}

/** Every run changes again and again; the last change is one that the supervisor answers on disk or in its log. */
function change({ open, ended }: { open: LaidRun[]; ended: LaidRun[] }): void {
  for (let round = 1; round < CHANGES_A_RUN; round++)
    for (const run of [...open, ...ended]) replaceRecord(run, { note: `change ${round}` });
  for (const run of open) endNow(run, 'completed');
  for (const run of ended)
    replaceRecord(run, { notify_delivery: jsonObject({ attempted: false, owed: true }) });
}

it(
  `${CHANGES} record changes of open and of ended runs while the supervisor is frozen are all found after the thaw`,
  async () => {
    await inWorld(async (world) => {
      // An owed notice is answered on the record, and none is sent.
      configure(world, 'notify: {skip_outcomes: [succeeded]}\n');
      const runs = layRuns(world);
      const supervisor = await startSupervisor(world);
      await sleep(3_000);
      supervisor.signal('SIGSTOP');
      await waitUntil('it to stand still', () => stateOf(supervisor.pid) === 'T');
      const frozenMs = performance.now();
      change(runs);
      const changedMs = performance.now() - frozenMs;
      await sleep(Math.max(0, LEAST_FROZEN_MS - changedMs));
      expect(supervisorEvents(world, 'ended')).toEqual([]);
      supervisor.signal('SIGCONT');
      const thawedMs = performance.now();
      const isAnswered = (run: LaidRun): boolean => noticeOf(run).skipped === 'by_rule';
      let unanswered = runs.ended;
      await waitUntil(
        'every change to be found',
        () => {
          unanswered = unanswered.filter((run) => !isAnswered(run));
          return unanswered.length === 0 && supervisorEvents(world, 'ended').length >= runs.open.length;
        },
        WITHIN_MS,
      );
      const foundMs = performance.now() - thawedMs;
      if (asked > 0)
        process.stdout.write(
          `${CHANGES} changes of ${2 * RUNS_OF_EACH} runs made in ${(changedMs / 1000).toFixed(1)} s, all found ${(foundMs / 1000).toFixed(1)} s after the thaw\n`,
        );
      const found = supervisorEvents(world, 'ended').map((each) => each.run_id);
      expect(found.sort()).toEqual(runs.open.map((run) => run.runId));
      expect(supervisorEvents(world, 'desynced')).not.toEqual([]);
      expect(supervisorEvents(world, 'fault')).toEqual([]);
    });
  },
  WITHIN_MS + 120_000,
);
