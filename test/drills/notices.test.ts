import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { configure } from '../support/configure.ts';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { layOwed, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { spawnSupervisor } from '../support/supervisor.ts';
import type { World } from '../support/world.ts';

/** More of them, with the counts printed: `LION_DRILL_NOTICES=5000 npx vitest run test/drills/notices.test.ts` */
const asked = Number(process.env.LION_DRILL_NOTICES ?? 0);
const NOTICES = asked > 0 ? asked : 60;
const MAX_ATTEMPTS = 12;
const KILL_EVERY_MS = 2_000;
const WITHIN_MS = 60_000 + NOTICES * 200;

/** Fails 3 times in 10 and hangs once in 10, by its own pid, after noting that it was started. */
function layNotifier(world: World): { command: string; starts: () => Start[] } {
  const [file, log] = [join(world.bin, 'notifier'), join(world.root, 'starts.log')];
  writeFileSync(
    file,
    `#!/bin/sh
echo "$1 $LIONAGI_NOTIFY_DELIVERY_ID $LIONAGI_NOTIFY_ATTEMPT" >> ${log}
case $(($$ % 10)) in 0|1|2) exit 75;; 3) exec sleep 6;; esac
exit 0
`,
  );
  chmodSync(file, 0o755);
  const starts = (): Start[] =>
    existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean).map(startOf) : [];
  return { command: JSON.stringify([file, '{run_id}']), starts };
}

interface Start {
  readonly runId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}

function startOf(line: string): Start {
  const [runId = '', deliveryId = '', attempt = ''] = line.split(' ');
  return { runId, deliveryId, attempt: Number(attempt) };
}

type Ending = 'delivered' | 'parked' | 'unknown' | null;

function endingOf(run: LaidRun): Ending {
  const notice = noticeOf(run);
  if (notice?.ok === true) return 'delivered';
  if (notice?.retry?.parked === undefined) return null;
  return notice.retry.parked.reason === 'outcome_unknown' ? 'unknown' : 'parked';
}

function countsOf(runs: readonly LaidRun[], starts: readonly Start[]) {
  const byRun = new Map<string, Start[]>();
  for (const start of starts) byRun.set(start.runId, [...(byRun.get(start.runId) ?? []), start]);
  const of = (run: LaidRun): Start[] => byRun.get(run.runId) ?? [];
  const count = (holds: (run: LaidRun) => boolean): number => runs.filter(holds).length;
  return {
    starts: starts.length,
    delivered: count((run) => endingOf(run) === 'delivered'),
    parked: count((run) => endingOf(run) === 'parked'),
    unknown: count((run) => endingOf(run) === 'unknown'),
    deliveredByNobody: count((run) => endingOf(run) === 'delivered' && of(run).length === 0),
    repeated: count((run) => new Set(of(run).map((start) => start.attempt)).size !== of(run).length),
    idsChanged: count((run) => new Set(of(run).map((start) => start.deliveryId)).size > 1),
    overCap: count((run) => of(run).length > MAX_ATTEMPTS || noticeOf(run).attempts > MAX_ATTEMPTS),
  };
}

it(
  `${NOTICES} notices, a notifier that fails and hangs, a supervisor killed every ${KILL_EVERY_MS} ms: each ends delivered, parked or unknown`,
  async () => {
    await inWorld(async (world) => {
      const notifier = layNotifier(world);
      const runs = Array.from({ length: NOTICES }, (_, n) => layOwed(world, runIdOf(n), notifier.command));
      configure(
        world,
        `notify: {timeout_seconds: 2, backoff_base_seconds: 0.05, backoff_cap_seconds: 0.5, lasts_hours: 0, max_attempts: ${MAX_ATTEMPTS}}\n`,
      );
      let kills = 0;
      let supervisor = spawnSupervisor(world);
      const giveUpMs = Date.now() + WITHIN_MS;
      while (runs.some((run) => endingOf(run) === null)) {
        if (Date.now() > giveUpMs) throw new Error('not all notices came to an end');
        await sleep(KILL_EVERY_MS);
        await supervisor.end('SIGKILL');
        kills++;
        supervisor = spawnSupervisor(world);
      }
      await supervisor.end('SIGTERM');
      // A supervisor that is killed cannot end the notifier it had started.
      await sleep(6_000);
      const counts = countsOf(runs, notifier.starts());
      if (asked > 0) process.stdout.write(`${NOTICES} notices, ${kills} kills: ${JSON.stringify(counts)}\n`);
      expect(counts).toMatchObject({ repeated: 0, overCap: 0, idsChanged: 0, deliveredByNobody: 0 });
      expect(counts.delivered + counts.parked + counts.unknown).toBe(NOTICES);
      expect(counts.delivered).toBeGreaterThan(NOTICES / 2);
    });
  },
  WITHIN_MS + 60_000,
);
