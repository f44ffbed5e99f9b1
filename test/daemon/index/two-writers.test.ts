import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { bundleInto } from '../../support/bundle.ts';
import { inWorld } from '../../support/in-world.ts';
import type { World } from '../../support/world.ts';
import { openIn, readRows } from './opened.ts';
import type { ReaderSaw } from './reader-program.ts';
import { progressOf, publish, runIdAt } from './rows.ts';
import type { WriterSaw } from './two-writers-program.ts';

const RUNS = 20;
const LAST_STEP = 300;

interface Program<T> {
  readonly saw: () => Promise<T>;
}

it('case 54: two supervisors at once and four readers: none is busy, no row ever goes back', () =>
  inWorld(async (world) => {
    const stateDir = `${world.work}/liond`;
    const runIds = Array.from({ length: RUNS }, (_, at) => runIdAt(at));
    for (const runId of runIds) publish(world.jobs, runId, { step: 0, terminal: false });
    const writer = await bundleInto(world.work, new URL('./two-writers-program.ts', import.meta.url));
    const reader = await bundleInto(world.work, new URL('./reader-program.ts', import.meta.url));
    const writers = [1, 2].map(() => run<WriterSaw>(world, writer, stateDir));
    // Readers want a file that is there; that two make it at once is part of the writers' beginning.
    const { index } = await openIn(world, stateDir);
    const readers = [1, 2, 3, 4].map(() => run<ReaderSaw>(world, reader, stateDir));

    // About 100 records a second, each of them ended some time before the last step.
    for (let step = 1; step <= LAST_STEP; step++) {
      for (const runId of runIds.filter((_, at) => (at + step) % RUNS === 0)) {
        publish(world.jobs, runId, { step, terminal: step > LAST_STEP / 2 });
      }
      await sleep(10);
    }
    const wrote = await Promise.all(writers.map((one) => one.saw()));
    const read = await Promise.all(readers.map((one) => one.saw()));

    expect(wrote.flatMap((one) => one.faults)).toEqual([]);
    expect(read.flatMap((one) => one.faults)).toEqual([]);
    for (const one of wrote) expect(one.written).toBeGreaterThan(RUNS);
    expect(wrote.reduce((sum, one) => sum + one.refused, 0)).toBeGreaterThan(0);
    for (const one of read) expect(one.reads).toBeGreaterThan(1);
    expect(index.isReplaced()).toBe(false);
    const rows = readRows<{ run_id: string; row: string }>(
      stateDir,
      'SELECT run_id, row FROM runs ORDER BY run_id',
    );
    expect(rows.map(({ run_id, row }) => [run_id, JSON.parse(row)])).toEqual(
      runIds.map((runId) => [runId, progressOf(world.jobs, runId)]),
    );
  }));

function run<T>(world: World, program: string, ...args: string[]): Program<T> {
  const child: ChildProcess = spawn(process.execPath, [program, ...args, world.jobs], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  world.onDispose(() => void child.kill('SIGKILL'));
  const printed = child.stdout === null ? Promise.resolve('') : text(child.stdout);
  return {
    async saw() {
      child.stdin?.end();
      return JSON.parse(await printed);
    },
  };
}
