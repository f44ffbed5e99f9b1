import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import {
  jsonObject,
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  laySpawnFailed,
  runIdOf,
  secondsAgo,
} from '../support/runs-of-all-sorts.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import type { World } from '../support/world.ts';

const SGR = /\u001b\[[0-9;]*m/g;

const OLD = { submitted_at: secondsAgo(3.5 * 86_400) };

/** One of each sort a list can show, with long and wide words in it. */
async function layAll(world: World): Promise<void> {
  layEnded(world, runIdOf(1), 'completed', {
    ...OLD,
    label: 'nightly index rebuild of everything there is',
    kind: 'agent',
  });
  layEnded(world, runIdOf(2), 'completed_empty', {
    ...OLD,
    label: '\u65e5\u672c\u8a9e'.repeat(12),
    kind: 'flow',
  });
  layEnded(world, runIdOf(3), 'cancelled', {
    ...OLD,
    label: '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'.repeat(30),
    kind: 'fanout',
  });
  await layGone(world, runIdOf(4), { ...OLD, label: 'started by lion job submit', kind: 'command' });
  layAdvisory(world, runIdOf(5), { ...OLD, label: null });
  layPreparing(world, runIdOf(6), 700);
  laySpawnFailed(world, runIdOf(7), OLD);
  await layLive(world, runIdOf(8), {
    kind: 'a kind of thirty characters or so',
    submitted_at: secondsAgo(400 * 86_400),
  });
  layEnded(world, runIdOf(9), 'failed', {
    ...OLD,
    notify_delivery: jsonObject({ attempted: true, ok: false, exit_code: null, error: 'FileNotFoundError' }),
  });
  mkdirSync(join(world.jobs, runIdOf(10)));
  writeFileSync(join(world.jobs, runIdOf(10), 'job.json'), 'not JSON');
}

describe('lion job list for a person', () => {
  it('on a terminal of 80 columns no line is wider, whatever the records hold', async () => {
    await inWorld(async (world) => {
      await layAll(world);
      const { screen, exitCode, stderr } = await lionOnTerminal(world, ['job', 'list']);
      expect([exitCode, stderr]).toEqual([0, '']);
      const lines = screen.replace(SGR, '').trimEnd().split('\n');
      expect(lines.length).toBe(11);
      expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([]);
      for (let n = 1; n <= 10; n++) expect(lines[11 - n]).toContain(runIdOf(n));
    });
  });

  it('what is cut on a terminal says so, and the marks that want a look are still to be seen', async () => {
    await inWorld(async (world) => {
      await layAll(world);
      const { screen } = await lionOnTerminal(world, ['job', 'list'], { columns: 100 });
      const line = (n: number): string => screen.split('\n').find((each) => each.includes(runIdOf(n))) ?? '';
      expect(line(1)).toContain('\u2026');
      expect(line(5)).toMatch(/orphan\?/);
      expect(line(6)).toMatch(/spawn\?/);
      expect(line(9)).toMatch(/notice/);
      expect(line(10)).toMatch(/damaged/);
    });
  });

  it('colour on a terminal is SGR alone, and NO_COLOR or TERM=dumb take it away', async () => {
    await inWorld(async (world) => {
      await layAll(world);
      const coloured = await lionOnTerminal(world, ['job', 'list']);
      expect(coloured.screen).toMatch(SGR);
      expect(coloured.screen.replace(SGR, '')).not.toContain('\u001b');
      for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
        const plain = await lionOnTerminal(world, ['job', 'list'], { env });
        expect(plain.screen).not.toContain('\u001b');
        expect(plain.screen).toBe(coloured.screen.replace(SGR, '').replace(/ +$/gm, ''));
      }
      const empty = await lionOnTerminal(world, ['job', 'list'], { env: { NO_COLOR: '' } });
      expect(empty.screen).toMatch(SGR);
    });
  });

  it('in a pipe nothing is coloured and nothing is cut', async () => {
    await inWorld(async (world) => {
      await layAll(world);
      const { stdout, exitCode } = await runLion(['job', 'list'], {
        ...world,
        env: { ...world.env, FORCE_COLOR: '1', TERM: 'xterm-256color' },
      });
      expect(exitCode).toBe(0);
      expect(stdout).not.toMatch(/[\u001b\u2026]/);
      expect(stdout).toContain('nightly index rebuild of everything there is');
      expect(stdout).toContain('a kind of thirty characters or so');
      expect(stdout).toContain('\u65e5\u672c\u8a9e'.repeat(12));
    });
  });

  it.each(['a pipe', 'a terminal'])('text of others cannot steer %s', async (where) => {
    await inWorld(async (world) => {
      const text = HOSTILE_TEXT;
      layEnded(world, runIdOf(1), text, { label: text, kind: text });
      layEnded(world, runIdOf(2), 'completed', {
        ...OLD,
        label: jsonObject({ deep: text }),
        kind: jsonObject({ x: text }),
      });
      layEnded(world, `${runIdOf(3)}-\u001b[31m\u202e`, 'completed');
      const seen =
        where === 'a pipe'
          ? (await runLion(['job', 'list'], world)).stdout
          : (await lionOnTerminal(world, ['job', 'list'], { columns: 4000 })).screen.replace(SGR, '');
      expect(hostileBits(seen)).toEqual([]);
      expect(seen.split('\n').length).toBe(5);
      expect(seen).toContain('\\x1b[31m');
    });
  });

  it('an empty store is said in words, with status 0 and without asking anything', async () => {
    await inWorld(async (world) => {
      const { stdout, stderr, exitCode } = await runLion(['job', 'list'], world);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toBe(`No runs in ${world.jobs}.\n`);
      expect((await lionOnTerminal(world, ['job', 'list'])).screen).toBe(`No runs in ${world.jobs}.\n`);
    });
  });

  it('says when there are more than it shows', async () => {
    await inWorld(async (world) => {
      for (let n = 1; n <= 3; n++) layEnded(world, runIdOf(n), 'completed');
      expect((await runLion(['job', 'list', '--limit', '2'], world)).stdout).toContain('More than 2');
      expect((await runLion(['job', 'list', '--limit', '3'], world)).stdout).not.toContain('More than');
    });
  });

  it('bad usage is words on stderr, nothing on stdout and status 2', async () => {
    await inWorld(async (world) => {
      for (const args of [['--limit', '0'], ['--limit'], ['--nosuch'], ['x']]) {
        const run = await runLion(['job', 'list', ...args], world);
        expect([run.exitCode, run.stdout]).toEqual([2, '']);
        expect(run.stderr).toMatch(/^lion: ./);
      }
    });
  });
});

describe('ADR-0106 D6: the list is ordered newest first, bounded by its limit, and says so when truncated', () => {
  it('newest first, and the newest ones where it is bounded', async () => {
    await inWorld(async (world) => {
      for (const n of [3, 1, 5, 2, 4]) layEnded(world, runIdOf(n), 'completed');
      const ids = async (...args: string[]): Promise<unknown> => {
        const { jobs, truncated, limit } = await askData(world, ['job', 'list', ...args]);
        return [jobs.map((job: { run_id: string }) => job.run_id), truncated, limit];
      };
      expect(await ids()).toEqual([[5, 4, 3, 2, 1].map(runIdOf), false, 50]);
      expect(await ids('--limit', '5')).toEqual([[5, 4, 3, 2, 1].map(runIdOf), false, 5]);
      expect(await ids('--limit', '2')).toEqual([[5, 4].map(runIdOf), true, 2]);
    });
  });

  it('fifty by default; the fifty-first makes it truncated', async () => {
    await inWorld(async (world) => {
      for (let n = 1; n <= 50; n++) layEnded(world, runIdOf(n), 'completed');
      expect(await askData(world, ['job', 'list'])).toMatchObject({ truncated: false, limit: 50 });
      layEnded(world, runIdOf(51), 'completed');
      const data = await askData(world, ['job', 'list']);
      expect([data.jobs.length, data.truncated, data.jobs[0].run_id]).toEqual([50, true, runIdOf(51)]);
    });
  });

  it('a status is compared verbatim with the one shown, and truncation counts matches', async () => {
    await inWorld(async (world) => {
      for (let n = 1; n <= 4; n++)
        layEnded(world, runIdOf(n), n % 2 === 0 ? 'some_future_word' : 'completed');
      const data = await askData(world, ['job', 'list', '--status', 'some_future_word', '--limit', '1']);
      expect(data).toMatchObject({ jobs: [{ run_id: runIdOf(4) }], truncated: true });
      const both = await askData(world, ['job', 'list', '--status', 'some_future_word', '--limit', '2']);
      expect(both).toMatchObject({
        jobs: [{ run_id: runIdOf(4) }, { run_id: runIdOf(2) }],
        truncated: false,
      });
      expect(await askData(world, ['job', 'list', '--status', 'SOME_FUTURE_WORD'])).toMatchObject({
        jobs: [],
      });
    });
  });

  it('a list waits for no lock: a run held by another is shown open, with the refusal', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, runIdOf(1));
      layEnded(world, runIdOf(2), 'completed');
      mkdirSync(join(run.dir, 'job.lock'));
      const { jobs } = await askData(world, ['job', 'list']);
      expect(jobs).toMatchObject([
        { run_id: runIdOf(2), terminal: true, refusal: null },
        { run_id: runIdOf(1), terminal: false, outcome: null, refusal: { code: 'lock_unavailable' } },
      ]);
      expect((await runLion(['job', 'list'], world)).stdout).toContain('lock_unavailable');
    });
  });
});

describe('ADR-0106 D4: every row carries status, terminal and outcome', () => {
  it('status is passed through whatever it is; terminal and outcome come from the recorded end alone', async () => {
    await inWorld(async (world) => {
      const rows: [string, boolean, string | null][] = [
        ['completed', true, 'succeeded'],
        ['completed_empty', true, 'failed'],
        ['some_future_word', true, 'failed'],
        ['aborted', true, 'cancelled'],
        ['killed', true, 'failed'],
      ];
      rows.forEach(([status], at) => void layEnded(world, runIdOf(at + 1), status));
      // The words of an end, without an end: no reader makes one of them.
      for (const [at, status] of ['completed', 'failed', 'exited', 'killed'].entries())
        layAdvisory(world, runIdOf(at + 10), { status });
      const { jobs } = await askData(world, ['job', 'list']);
      const told = jobs.map((job: Record<string, unknown>) => [job.status, job.terminal, job.outcome]);
      expect(told).toEqual([...Array(4).fill(['exited', false, null]), ...rows.reverse()]);
    });
  });
});
