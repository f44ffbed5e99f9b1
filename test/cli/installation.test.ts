import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { type Installation, installInto, through } from '../support/install.ts';
import { type LionRun, runLion } from '../support/lion.ts';
import { ask, askData, envelopeOf } from '../support/machine.ts';
import { isThere } from '../support/processes.ts';
import { layAdvisory, layEnded, layGone, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeLi, makeNotifier } from '../support/stand-ins.ts';
import { spawnSupervisor } from '../support/supervisor.ts';
import type { World } from '../support/world.ts';

const [GONE, ENDED, OWN] = [runIdOf(1), runIdOf(2), runIdOf(3)] as [string, string, string];

/** ADR-0106 D8: nothing was executed, so there is no envelope and nothing a program could take for one. */
function expectUnable(run: LionRun): void {
  expect([run.exitCode, run.stdout], run.stderr).toEqual([78, '']);
  expect(run.stderr).toMatch(/^lion: this installation cannot run the command: ./);
  expect(run.stderr).not.toMatch(/\n\s+at /);
}

describe('ADR-0106 D8: an installation without its lock binding', () => {
  const withoutKoffi = (work: (world: World, installation: Installation) => Promise<void>): Promise<void> =>
    inWorld((world) => work(world, installInto(world, 'broken', ['koffi'])));

  it('still reads: a gone run stays non-terminal, with the refusal where a caller looks', async () => {
    await withoutKoffi(async (world, installation) => {
      const notifier = makeNotifier(world, 'notifier');
      const run = await layGone(world, GONE, { notify_command: notifier.command });
      const before = run.text();
      const call = through(installation);
      const open = { status: 'exited', terminal: false, outcome: null, possibly_orphaned: true };
      const refusal = { code: 'lock_unavailable', message: expect.stringContaining('lock binding') };

      expect(await askData(world, ['job', 'status', GONE], call)).toMatchObject({ ...open, refusal });
      const { jobs } = await askData(world, ['job', 'list'], call);
      expect(jobs).toEqual([expect.objectContaining({ ...open, refusal })]);
      const wait = await askData(world, ['job', 'wait', GONE, '--max-wait', '0'], call);
      expect(wait).toMatchObject({ all_terminal: false, timed_out: false, stopped_without_end: [GONE] });
      expect(wait.runs[0]).toMatchObject({ ...open, refusal });
      const output = await askData(world, ['job', 'output', GONE], call);
      expect(output).toMatchObject({ status: 'exited', terminal: false });

      expect(run.text()).toBe(before);
      expect(notifier.calls()).toEqual([]);
    });
  });

  it('answers for ended runs, which take no lock, as ever', async () => {
    await withoutKoffi(async (world, installation) => {
      layEnded(world, ENDED, 'completed');
      const data = await askData(world, ['job', 'status', ENDED], through(installation));
      expect(data).toMatchObject({ terminal: true, outcome: 'succeeded', refusal: null });
    });
  });

  it.each([['--machine'], []])(
    'hook terminal exits 78 before any effect, with no envelope %s',
    async (...flag) => {
      await withoutKoffi(async (world, installation) => {
        const notifier = makeNotifier(world, 'notifier');
        const run = layAdvisory(world, OWN, { notify_command: notifier.command });
        const before = run.text();
        const args = ['hook', 'terminal', '--run-id', OWN, ...flag.filter(Boolean)];
        expectUnable(await runLion(args, { ...world, ...through(installation) }));
        expect(run.text()).toBe(before);
        expect([existsSync(join(run.dir, 'console.log')), existsSync(join(run.dir, 'job.lock'))]).toEqual([
          false,
          false,
        ]);
        expect(notifier.calls()).toEqual([]);
      });
    },
  );

  it.each([
    ['kill', (id: string) => ['job', 'kill', id]],
    ['submit', () => ['job', 'submit', '--', 'true']],
    ['agent', () => ['agent', '--detach', '--prompt', 'x']],
  ])('%s exits 78 before any effect too', async (_verb, args) => {
    await withoutKoffi(async (world, installation) => {
      makeLi(world);
      const live = await layLive(world, OWN);
      const before = live.text();
      expectUnable(await runLion([...args(OWN), '--machine'], { ...world, ...through(installation) }));
      expect(readdirSync(world.jobs)).toEqual([OWN]);
      expect([live.text(), isThere(live.process.pid)]).toEqual([before, true]);
    });
  });

  it('the same run is ended by the next look of an installation that is whole', async () => {
    await withoutKoffi(async (world, installation) => {
      await layGone(world, GONE);
      await askData(world, ['job', 'status', GONE], through(installation));
      expect(await askData(world, ['job', 'status', GONE])).toMatchObject({ terminal: true, refusal: null });
    });
  });
});

describe('ADR-0106 D8: an installation with a part of itself missing', () => {
  it('exits 78 with nothing on stdout, or answers as if whole: never anything between', async () => {
    await inWorld(async (world) => {
      const installation = installInto(world, 'broken');
      await layGone(world, GONE);
      layEnded(world, ENDED, 'completed');
      const tally = { unable: 0, answered: 0 };
      const failures: string[] = [];
      for (const part of installation.parts) {
        const file = join(installation.dist, part);
        renameSync(file, `${file}.away`);
        const run = await runLion(['job', 'status', ENDED, '--machine'], {
          ...world,
          ...through(installation),
        });
        renameSync(`${file}.away`, file);
        const unable = run.exitCode === 78 && run.stdout === '' && !/\n\s+at /.test(run.stderr);
        const answered = run.exitCode === 0 && run.envelope?.data?.outcome === 'succeeded';
        if (!unable && !answered) failures.push(`${part}: exit ${run.exitCode}, ${run.stderr.slice(0, 300)}`);
        tally[unable ? 'unable' : 'answered'] += 1;
      }
      expect(failures).toEqual([]);
      expect(tally.unable).toBeGreaterThan(0);
      expect(tally.answered).toBeGreaterThan(0);
      expect(
        envelopeOf(
          await runLion(['job', 'status', ENDED, '--machine'], { ...world, ...through(installation) }),
        ).ok,
      ).toBe(true);
    });
  });

  it('a hook that cannot be run whole leaves its record alone', async () => {
    await inWorld(async (world) => {
      const installation = installInto(world, 'broken');
      const notifier = makeNotifier(world, 'notifier');
      const untouched: string[] = [];
      for (const [at, part] of installation.parts.entries()) {
        const run = layAdvisory(world, runIdOf(at + 10), { notify_command: notifier.command });
        const before = run.text();
        const file = join(installation.dist, part);
        renameSync(file, `${file}.away`);
        const hook = await runLion(['hook', 'terminal', '--run-id', run.runId, '--machine'], {
          ...world,
          ...through(installation),
        });
        renameSync(`${file}.away`, file);
        if (hook.exitCode === 0) continue;
        untouched.push(part);
        expect([hook.exitCode, hook.stdout], `${part}: ${hook.stderr}`).toEqual([78, '']);
        expect(run.text(), part).toBe(before);
      }
      expect(untouched).toContain('cli/lion.js');
      expect(notifier.calls().length).toBe(installation.parts.length - untouched.length);
    });
  });

  it('liond without its log library exits 78 too, and starts nothing', async () => {
    await inWorld(async (world) => {
      const { liond } = installInto(world, 'broken', ['pino']);
      const run = await layGone(world, GONE);
      const before = run.text();
      const supervisor = spawnSupervisor(world, { main: liond });
      const end = await supervisor.ended();
      expect([end.exitCode, supervisor.said()], supervisor.complained()).toEqual([78, '']);
      expect(run.text()).toBe(before);
    });
  });

  it('the whole copy answers, so what fails above fails for what was taken away', async () => {
    await inWorld(async (world) => {
      const installation = installInto(world, 'whole');
      expect((await ask(world, ['handshake'], through(installation))).ok).toBe(true);
      await layGone(world, GONE);
      expect(await askData(world, ['job', 'status', GONE], through(installation))).toMatchObject({
        terminal: true,
      });
    });
  });
});
