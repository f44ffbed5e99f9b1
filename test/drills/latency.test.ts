import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { figuresOf, median } from '../support/figures.ts';
import { inWorld } from '../support/in-world.ts';
import { endOf, type LiveRun, layLive, noticeOf, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor, supervisorEvents } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** All of them, with the figures printed: `LION_DRILL_OPEN=1000 npx vitest run test/drills/latency.test.ts` */
const asked = Number(process.env.LION_DRILL_OPEN ?? 0);
const OPEN = asked > 0 ? asked : 100;
const DEATHS = asked > 0 ? 20 : 5;
/** From the death to the end on disk: a probe each second, `li` in 50 ms, and the rest. */
const END_MS = 1_500;
/** From there to the notifier's first act. */
const NOTICE_MS = 200;
/** A busy machine may take its time; what is slow by itself is slower than that. */
const BUSY = 5;

/** A `li` that takes 50 ms to know nothing. */
function layLi(world: World): void {
  const file = join(world.bin, 'li');
  const answer = { found: false, terminal: false, status: null, ended_at: null, reason_code: null };
  const envelope = {
    ok: true,
    contract_version: 1,
    error: null,
    data: { lifecycle: { available: true, value: answer } },
  };
  writeFileSync(file, `#!/bin/sh\nsleep 0.05\necho '${JSON.stringify(envelope)}'\n`);
  chmodSync(file, 0o755);
  world.env.LIONAGI_MCP_LI_BIN = file;
}

/** Says when it started before anything else; a shell is up in a few milliseconds. */
function layNotifier(world: World): { command: string; startedMs: (runId: string) => number } {
  const log = join(world.root, 'started');
  const command = JSON.stringify(['/bin/sh', '-c', `echo "$0 $(date +%s%3N)" >> ${log}`, '{run_id}']);
  const startedMs = (runId: string): number => {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
    return Number(lines.find((line) => line.startsWith(`${runId} `))?.split(' ')[1]);
  };
  return { command, startedMs };
}

async function layOpen(world: World, command: string): Promise<LiveRun[]> {
  const runs: LiveRun[] = [];
  for (let n = 0; n < OPEN; n++) runs.push(await layLive(world, runIdOf(n), { notify_command: command }));
  return runs;
}

it(`one death among ${OPEN} open runs is on disk within ${END_MS} ms, and its notifier started ${NOTICE_MS} ms later, ${DEATHS} times`, async () => {
  await inWorld(async (world) => {
    layLi(world);
    const notifier = layNotifier(world);
    const runs = await layOpen(world, notifier.command);
    await startSupervisor(world);
    await sleep(3_000);
    const [endMs, noticeMs]: [number[], number[]] = [[], []];
    for (let n = 0; n < DEATHS; n++) {
      const run = runs[Math.floor(((n + 0.5) * OPEN) / DEATHS)] as LiveRun;
      await sleep(Math.random() * 1_000); // anywhere between two probes
      const diedMs = Date.now();
      await run.process.stop();
      await waitUntil('the result of its notice', () => noticeOf(run)?.ok === true, 60_000);
      expect(endOf(run)).toEqual(REAPED);
      const ended = supervisorEvents(world, 'ended').find((each) => each.run_id === run.runId);
      const endedMs = Date.parse(ended?.time ?? '');
      endMs.push(endedMs - diedMs);
      noticeMs.push(notifier.startedMs(run.runId) - endedMs);
    }
    if (asked > 0)
      process.stdout.write(
        `${DEATHS} deaths among ${OPEN} open runs: to the durable end ${figuresOf(endMs)}; from there to the notifier ${figuresOf(noticeMs)}\n`,
      );
    expect(Math.max(...endMs)).toBeLessThan(BUSY * END_MS);
    expect(Math.max(...noticeMs)).toBeLessThan(BUSY * NOTICE_MS);
    if (asked > 0) {
      expect(median(endMs)).toBeLessThan(END_MS);
      expect(median(noticeMs)).toBeLessThan(NOTICE_MS);
    }
    expect(supervisorEvents(world, 'ended')).toHaveLength(DEATHS);
  });
}, 600_000);
