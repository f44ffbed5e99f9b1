import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import {
  endOf,
  type LiveRun,
  layEnded,
  layGone,
  layLive,
  REAPED,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { giveToOrdinaryUser } from '../support/someone-else.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const GOOD = 50;
const idOfOdd = (n: number): string => runIdOf(100 + n);

type Lay = (file: string) => void;
const ODD: readonly (readonly [string, string, Lay])[] = [
  ['an empty file', 'unreadable', (file) => writeFileSync(file, '')],
  ['1 KB of NUL bytes', 'unreadable', (file) => writeFileSync(file, Buffer.alloc(1024))],
  ['a list', 'wrong_shape', (file) => writeFileSync(file, '[]')],
  ['a bare NaN token', 'wrong_shape', (file) => writeFileSync(file, 'NaN')],
  ['invalid UTF-8', 'unreadable', (file) => writeFileSync(file, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))],
  ['a folder named job.json', 'unreadable', (file) => mkdirSync(file)],
  ['mode 000', 'unreadable', (file) => writeFileSync(file, '{}', { mode: 0 })],
  ['a 200 MB file', 'unreadable', (file) => writeSparse(file, 200 * 1024 * 1024)],
  ['a FIFO named job.json', 'unreadable', (file) => execFileSync('mkfifo', [file])],
  ['a dangling symlink', 'unreadable', (file) => symlinkSync('nowhere', file)],
];
/** It parses, and it is another run's. */
const FOREIGN = runIdOf(200);

function writeSparse(file: string, bytes: number): void {
  const fd = openSync(file, 'w');
  ftruncateSync(fd, bytes);
  closeSync(fd);
}

interface Laid {
  readonly live: LiveRun[];
  readonly wanted: Map<string, [boolean, string | null]>;
  readonly who: { uid?: number };
  tracesOfOdd(): string[];
}

async function lay(world: World): Promise<Laid> {
  const wanted = new Map<string, [boolean, string | null]>();
  const live: LiveRun[] = [];
  for (let n = 1; n <= GOOD; n++) {
    const id = runIdOf(n);
    if (n % 10 === 0) {
      await layGone(world, id);
      wanted.set(id, [true, 'indeterminate']);
    } else if (n % 10 === 5) {
      live.push(await layLive(world, id));
      wanted.set(id, [false, null]);
    } else {
      layEnded(world, id, n % 2 === 0 ? 'completed' : 'failed');
      wanted.set(id, [true, n % 2 === 0 ? 'succeeded' : 'failed']);
    }
  }
  const odd = [...ODD.keys()].map((at) => idOfOdd(at)).concat(FOREIGN);
  for (const [at, [, , make]] of ODD.entries()) {
    mkdirSync(join(world.jobs, idOfOdd(at)));
    make(join(world.jobs, idOfOdd(at), 'job.json'));
  }
  mkdirSync(join(world.jobs, FOREIGN));
  writeFileSync(join(world.jobs, FOREIGN, 'job.json'), '{"run_id": "other"}');
  const who = giveToOrdinaryUser(world);
  const tracesOfOdd = (): string[] =>
    odd.map((id) => {
      const { ino, mode, size, mtimeNs } = lstatSync(join(world.jobs, id, 'job.json'), { bigint: true });
      return [id, ino, mode, size, mtimeNs].join();
    });
  return { live, wanted, who, tracesOfOdd };
}

async function expectGoodOnes(world: World, { wanted, who }: Laid): Promise<void> {
  const { jobs, truncated } = await askData(world, ['job', 'list', '--limit', '1000'], who);
  expect(truncated).toBe(false);
  const told = new Map(jobs.map((job: Record<string, unknown>) => [job.run_id, [job.terminal, job.outcome]]));
  for (const [id, want] of wanted) expect([id, told.get(id)]).toEqual([id, want]);
}

describe('case 14: one broken status file does not hide the good jobs', () => {
  it('case 14: with nothing running, all 50 good runs are right and each odd one is told by its record state', async () => {
    await inWorld(async (world) => {
      const laid = await lay(world);
      const before = laid.tracesOfOdd();
      await expectGoodOnes(world, laid);
      const { jobs } = await askData(world, ['job', 'list', '--limit', '1000'], laid.who);
      for (const [at, [what, state]] of ODD.entries()) {
        const row = jobs.find((job: Record<string, unknown>) => job.run_id === idOfOdd(at));
        // A link that leads nowhere is not listed (docs/decisions/0004), and answers when it is asked about.
        if (what !== 'a dangling symlink') expect([what, row?.record_state]).toEqual([what, state]);
        const { error } = await ask(world, ['job', 'status', idOfOdd(at)], laid.who);
        expect([what, error?.kind, error?.detail?.record_state]).toEqual([what, 'unavailable', state]);
      }
      expect(laid.tracesOfOdd()).toEqual(before);
    });
  });

  it('case 14: a record that names another run is told as one that does, and not as missing', async () => {
    await inWorld(async (world) => {
      const { who } = await lay(world);
      const { data, error } = await ask(world, ['job', 'status', FOREIGN], who);
      const told = [error?.detail?.record_state, data?.record_state, data?.refusal?.code].filter(Boolean);
      expect(error?.kind).not.toBe('not_found');
      expect(told.join(' ')).toContain('names_another_run');
    });
  });

  it('case 14: none crashes or blocks a command of a person either', async () => {
    await inWorld(async (world) => {
      const { who } = await lay(world);
      const calls = [
        ['job', 'list', '--limit', '1000'],
        ['job', 'wait', '--max-wait', '0', ...ODD.map((_, at) => idOfOdd(at))],
        ...ODD.map((_, at) => ['job', 'output', idOfOdd(at)]),
      ];
      for (const args of calls) {
        const { exitCode, signal, stderr } = await runLion(args, { ...world, ...who, withinMs: 20_000 });
        expect([args[1], signal, exitCode === 0 || exitCode === 1 || exitCode === 2]).toEqual([
          args[1],
          null,
          true,
        ]);
        expect(stderr).not.toMatch(/\n\s+at /);
      }
    });
  });

  it('case 14: the supervisor over the same store starts, looks after the good ones and rewrites none of the odd ones', async () => {
    await inWorld(async (world) => {
      const laid = await lay(world);
      const before = laid.tracesOfOdd();
      const supervisor = await startSupervisor(world, laid.who);
      await waitUntil('the gone runs to be reaped by it', () =>
        [10, 20, 30, 40, 50].every((n) => supervisor.said().includes(`${runIdOf(n)} has ended`)),
      );
      const [dying] = laid.live;
      if (dying === undefined) throw new Error('no live run was laid');
      await dying.process.stop();
      laid.wanted.set(dying.runId, [true, 'indeterminate']);
      await waitUntil('the run that died to be ended', () => dying.record().get('finished_at'));
      expect(endOf(dying)).toEqual(REAPED);
      await expectGoodOnes(world, laid);
      expect(supervisor.isRunning()).toBe(true);
      expect(laid.tracesOfOdd()).toEqual(before);
      expect(supervisor.complained()).toBe('');
    });
  });

  it('case 14: a broken record that is mended while the supervisor runs is looked after again', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, runIdOf(1));
      const text = run.text();
      writeFileSync(run.recordFile, Buffer.alloc(text.length));
      await startSupervisor(world);
      chmodSync(run.recordFile, 0o600);
      writeFileSync(run.recordFile, text);
      await waitUntil('the mended run to be ended', () => run.text().includes('mcp_orphan_reaper'));
    });
  });
});
