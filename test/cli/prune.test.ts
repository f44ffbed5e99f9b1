import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { newRunIds } from '../support/new-run-id.ts';
import { DELIVERIES } from '../support/notices-of-all-sorts.ts';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { startPythonWriter } from '../support/python-writer.ts';
import { jsonObject, layEnded, layLive, secondsAgo } from '../support/runs-of-all-sorts.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import type { World } from '../support/world.ts';

const HOUR_S = 3_600;
const runIdOf = newRunIds();

/** Ended so many hours ago, in the order of their numbers. */
function layEndedAgo(world: World, ...hours: number[]): void {
  for (const [n, ago] of hours.entries())
    layEnded(world, runIdOf(n), 'completed', { finished_at: secondsAgo(ago * HOUR_S) });
}

async function removedBy(world: World, ...args: string[]): Promise<number[]> {
  const { removed } = await askData(world, ['job', 'prune', ...args]);
  return removed.map((run: { run_id: string }) => [0, 1, 2, 3, 4].map(runIdOf).indexOf(run.run_id));
}

describe('lion job prune', () => {
  it('without --yes says what it would do, to a program and to a person, and does not', async () => {
    await inWorld(async (world) => {
      layEndedAgo(world, 100, 90, 1);
      const data = await askData(world, ['job', 'prune', '--older-than', '2d']);
      expect(data).toEqual({
        dry_run: true,
        removed: [0, 1].map((n) => ({ run_id: runIdOf(n), bytes: expect.any(Number) })),
        bytes: data.removed[0].bytes + data.removed[1].bytes,
        kept: { outside_rule: 1 },
        failed: [],
        interrupted: false,
      });
      expect(data.removed[0].bytes).toBeGreaterThan(0);
      const { exitCode, stdout, stderr } = await runLion(['job', 'prune', '--older-than', '2d'], world);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout.replaceAll(/\d+K/g, 'SIZE')).toBe(
        `Would remove 2 runs and free SIZE.
  ${runIdOf(0)}  SIZE
  ${runIdOf(1)}  SIZE
Would keep:
  1 run outside the rule
Nothing was removed; --yes does it.
`,
      );
      expect(readdirSync(world.jobs)).toHaveLength(3);
    });
  });

  it('with --yes does it, and says so', async () => {
    await inWorld(async (world) => {
      layEndedAgo(world, 100, 1);
      const { exitCode, stdout } = await runLion(['job', 'prune', '--older-than', '2d', '--yes'], world);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^Removed 1 run and freed \d+K\.\nKept:\n {2}1 run outside the rule\n$/);
      expect(readdirSync(world.jobs)).toEqual([runIdOf(1)]);
    });
  });

  it.each([
    [['--older-than', '99h'], [0]],
    [
      ['--older-than', '90m'],
      [0, 1, 2],
    ],
    [
      ['--older-than', '3d'],
      [0, 1],
    ],
    [
      ['--keep', '1'],
      [0, 1, 2],
    ],
    [
      ['--max-size', '0'],
      [0, 1, 2, 3],
    ],
    [['--max-size', '1T'], []],
    [['--outcome', 'failed'], []],
    [['--outcome', 'failed', '--outcome', 'succeeded', '--older-than', '3d', '--keep', '3'], [0]],
  ])('reads %j', async (args, expected) => {
    await inWorld(async (world) => {
      layEndedAgo(world, 100, 90, 2, 1);
      expect(await removedBy(world, ...args)).toEqual(expected);
    });
  });

  it('reads sizes with their units, of 1024 each', async () => {
    await inWorld(async (world) => {
      layEndedAgo(world, 3, 2, 1);
      for (const n of [0, 1, 2])
        writeFileSync(join(world.jobs, runIdOf(n), 'console.log'), 'x'.repeat(1024 ** 2));
      for (const size of ['2.5M', '2560K', '2560kib', '2.5MB', '2621440'])
        expect(await removedBy(world, '--max-size', size)).toEqual([0]);
    });
  });

  it.each([
    [[], /--older-than.*--keep.*--max-size.*--outcome/],
    [['--yes', '--force'], /at least one rule/],
    [['--older-than', '30'], /--older-than takes .*30d, not "30"/],
    [['--older-than', '-1d'], /--older-than/],
    [['--keep', '1.5'], /--keep takes a whole number/],
    [['--max-size', '5X'], /--max-size takes/],
    [['--max-size', ''], /--max-size takes/],
    [['--outcome', 'completed'], /--outcome takes succeeded, failed, cancelled, indeterminate, not/],
    [['--keep', '1', 'a-run'], /too many arguments/],
  ])('refuses %j and removes nothing', async (args, message) => {
    await inWorld(async (world) => {
      layEndedAgo(world, 100);
      const { error } = await ask(world, ['job', 'prune', ...args]);
      expect(error).toMatchObject({ kind: 'invalid_input', message: expect.stringMatching(message) });
      expect((await runLion(['job', 'prune', ...args], world)).exitCode).toBe(2);
      expect(readdirSync(world.jobs)).toHaveLength(1);
    });
  });

  it('with --force takes damaged and undelivered ones too, never one that lives', async () => {
    await inWorld(async (world) => {
      layEndedAgo(world, 100, 90, 80);
      writeFileSync(join(world.jobs, runIdOf(0), 'job.json'), '{');
      const notify_delivery = jsonObject(DELIVERIES.parked);
      layEnded(world, runIdOf(1), 'completed', { finished_at: secondsAgo(90 * HOUR_S), notify_delivery });
      await layLive(world, runIdOf(3));
      const without = await askData(world, ['job', 'prune', '--keep', '0']);
      expect(without.kept).toEqual({ damaged: 1, undelivered: 1, not_ended: 1 });
      expect(await removedBy(world, '--keep', '0', '--force', '--yes')).toEqual([0, 1, 2]);
      expect(readdirSync(world.jobs)).toEqual([runIdOf(3)]);
    });
  });

  it('names what could not be removed, and exits 1', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      layEndedAgo(world, 100, 90);
      await writer.ask({ do: 'hold', run_dirs: [join(world.jobs, runIdOf(0))] });
      const { exitCode, stdout } = await runLion(['job', 'prune', '--keep', '0', '--yes'], world);
      expect(exitCode).toBe(1);
      expect(stdout).toContain(`Could not be removed:\n  ${runIdOf(0)}  lock_unavailable\n`);
      const { failed } = await askData(world, ['job', 'prune', '--keep', '0', '--yes']);
      expect(failed).toEqual([{ run_id: runIdOf(0), why: 'lock_unavailable' }]);
      expect(readdirSync(world.jobs)).toEqual([runIdOf(0)]);
    });
  });

  it.skipIf(whyNoMountNamespace() !== null)(
    'does not enter a filesystem that is mounted inside a run',
    async () => {
      await inWorld(async (world) => {
        layEndedAgo(world, 100);
        const mounted = join(world.jobs, runIdOf(0), 'mounted');
        mkdirSync(mounted);
        const script = `mount -t tmpfs none "$0" && touch "$0/precious" && "$@" && ls "$0"`;
        const through = ['unshare', '-m', 'sh', '-c', script, mounted];
        const { stdout } = await runLion(['--machine', 'job', 'prune', '--keep', '0', '--yes'], {
          ...world,
          through,
        });
        expect(stdout).toContain('"why":"filesystem_mounted_inside"');
        expect(stdout).toMatch(/\nprecious\n$/);
      });
    },
  );

  it('tells on a terminal how far it is when it takes over a second, and nowhere else', async () => {
    await inWorld(async (world) => {
      const writer = await startPythonWriter();
      world.onDispose(writer.stop);
      layEndedAgo(world, 100, 90, 80);
      await writer.ask({ do: 'hold', run_dirs: [0, 1].map((n) => join(world.jobs, runIdOf(n))) });
      const args = ['job', 'prune', '--keep', '0', '--yes'];
      const { stderr } = await runLion(['--machine', ...args], world);
      expect(stderr).toBe('');
      expect((await runLion(args, world)).stderr).toBe('');
      const { screen } = await lionOnTerminal(world, args, { errorsToo: true });
      expect(screen).toMatch(/^(\r\u001b\[Kgoing through it: [12] of 2 \(\ds\))+\r\u001b\[KRemoved /);
    });
  });

  it('names twenty runs and no more to a person, and prints no name that acts on a terminal', async () => {
    await inWorld(async (world) => {
      layEndedAgo(world, ...Array.from({ length: 25 }, () => 100));
      const evil = '\u001b[31mred';
      layEnded(world, evil, 'completed', { finished_at: secondsAgo(100 * HOUR_S) });
      const { stdout } = await runLion(['job', 'prune', '--keep', '0'], world);
      expect(stdout).toContain('and 6 more; --machine names them all');
      expect(stdout).toContain('\\x1b[31mred');
      expect(stdout).not.toContain('\u001b');
    });
  });

  it('of an empty store, and one that is not there, removes nothing', async () => {
    await inWorld(async (world) => {
      for (const make of [() => undefined, () => mkdirSync(world.jobs, { recursive: true })]) {
        make();
        const { exitCode, stdout } = await runLion(['job', 'prune', '--keep', '0', '--yes'], world);
        expect([exitCode, stdout]).toEqual([0, 'Removed 0 runs and freed 0B.\n']);
      }
    });
  });
});
