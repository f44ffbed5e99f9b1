import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { askKill } from '../support/ask-kill.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, type LaidRun, layRun } from '../support/lay-run.ts';
import { type LionRun, runLion } from '../support/lion.ts';
import { newRunId } from '../support/new-run-id.ts';
import { startSleeper, type WatchedProcess } from '../support/processes.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

async function lay(world: World): Promise<{ run: LaidRun; sleeper: WatchedProcess }> {
  const runId = newRunId();
  const sleeper = await startSleeper(runId);
  world.onDispose(sleeper.stop);
  return { run: layRun(world, runId, identityOf(sleeper)), sleeper };
}

function call(world: World, args: readonly string[]): Promise<LionRun> {
  return runLion(['job', 'kill', ...args], { env: world.env, cwd: world.cwd });
}

const SIGNALS: [string, string][] = [
  ['TERM', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['int', 'SIGINT'],
  ['sighup', 'SIGHUP'],
  ['15', 'SIGTERM'],
  ['9', 'SIGKILL'],
  [String(constants.signals.SIGUSR1), 'SIGUSR1'],
];

const BAD_SIGNALS = ['0', '-1', '-15', '99', '1.5', '015', 'TERMINATE', 'SIG', 'TERM ', '', 'toString'];
const BAD_GRACES = ['-1', 'soon', '', '601', '1e3', 'NaN', 'Infinity', '0x10', '1,5', ' 1'];

describe.concurrent('the signal of a kill', () => {
  for (const [given, sent] of SIGNALS) {
    it(`${given} is ${sent}: that is sent, and told`, () =>
      inWorld(async (world) => {
        const { run, sleeper } = await lay(world);
        const answer = await askKill(world, run.runId, ['--grace', '0', '--signal', given]);
        expect(answer).toMatchObject({ killed: true, reason_code: 'signalled', signal: sent });
        await waitUntil('it to be collected', () => sleeper.fates()[0] !== 'alive');
        expect(sleeper.fates()).toEqual([sent]);
      }));
  }
});

describe.concurrent('a kill that is not understood', () => {
  it('is invalid_input, and nothing is sent or written', () =>
    inWorld(async (world) => {
      const { run, sleeper } = await lay(world);
      const before = run.text();
      const bad = [
        ...BAD_SIGNALS.map((signal) => [`--signal=${signal}`]),
        ...BAD_GRACES.map((grace) => [`--grace=${grace}`]),
        ['--signal'],
        ['--grace'],
        ['--signal=TERM', '--grace=-1', '--force'],
        ['--frobnicate'],
      ];
      const wrong: unknown[] = [];
      for (const args of bad) {
        const { exitCode, envelope } = await call(world, [run.runId, '--machine', ...args]);
        const kind = envelope?.error?.kind;
        if (exitCode !== 0 || envelope?.ok !== false || kind !== 'invalid_input')
          wrong.push([args, exitCode, envelope]);
      }
      expect(wrong).toEqual([]);
      expect(run.text()).toBe(before);
      expect(sleeper.fates()).toEqual(['alive']);
    }));

  it('ends with 2 for a person, and nothing is sent', () =>
    inWorld(async (world) => {
      const { run, sleeper } = await lay(world);
      const ends = [
        await call(world, [run.runId, '--signal=FROB']),
        await call(world, [run.runId, '--grace=soon']),
        await call(world, []),
      ];
      expect(ends.map(({ exitCode }) => exitCode)).toEqual([2, 2, 2]);
      expect(ends.map(({ stdout }) => stdout)).toEqual(['', '', '']);
      expect(sleeper.fates()).toEqual(['alive']);
    }));

  it('asks for more of an id that two runs share, and signals neither', () =>
    inWorld(async (world) => {
      const [one, two] = [await lay(world), await lay(world)];
      const { envelope } = await call(world, [one.run.runId.slice(0, 15), '--machine']);
      expect(envelope?.error?.kind).toBe('conflict');
      expect([...one.sleeper.fates(), ...two.sleeper.fates()]).toEqual(['alive', 'alive']);
    }));
});

describe.concurrent('a kill for a person', () => {
  it('ends with 0 where it signalled, and with 1 where there was nothing to signal', () =>
    inWorld(async (world) => {
      const { run, sleeper } = await lay(world);
      const first = await call(world, [run.runId, '--grace=5']);
      expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('SIGTERM sent')]);
      await waitUntil('it to be collected', () => sleeper.fates()[0] !== 'alive');
      const second = await call(world, [run.runId, '--grace=5']);
      expect([second.exitCode, second.stdout]).toEqual([1, expect.stringContaining('not signalled')]);
    }));
});
