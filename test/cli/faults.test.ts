import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { nearNames } from '../../cli/near.ts';
import { buildProgram, pathOf } from '../../cli/program.ts';
import type { Call } from '../../cli/verb.ts';
import { inWorld } from '../support/in-world.ts';
import { type LionRun, runLion } from '../support/lion.ts';
import { ask } from '../support/machine.ts';
import { layEnded, runIdOf } from '../support/runs-of-all-sorts.ts';

/** For its tree alone: no verb is called. */
const PROGRAM = buildProgram({} as Call, () => undefined);

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

const COMMANDS = everyCommand(PROGRAM);
const VERBS = COMMANDS.filter(({ commands }) => commands.length === 0);
const GROUPS = COMMANDS.filter(({ commands }) => commands.length > 0);

function wordsOf(command: Command): string[] {
  return pathOf(command).split(' ').slice(1);
}

/** One line that says something, status 2, and nothing where an answer would be. */
function expectFault(run: LionRun, about: string): void {
  expect([run.exitCode, run.stdout], about).toEqual([2, '']);
  expect(run.stderr, about).toMatch(/^lion: \S.*\n$/);
}

describe('every verb', () => {
  it('says in its help what it does, with an example that is a call of it', async () => {
    await inWorld(async (world) => {
      for (const verb of VERBS) {
        const path = pathOf(verb);
        const { stdout, exitCode } = await runLion([...wordsOf(verb), '--help'], world);
        expect(exitCode, path).toBe(0);
        expect(stdout, path).toMatch(/\nExamples?:\n/);
        const [, examples = ''] = stdout.split(/\nExamples?:\n/);
        expect(examples, path).toContain(path);
        expect(verb.description(), path).not.toBe('');
      }
    });
  });

  it('refuses an option it does not know with a line that leads to its help', async () => {
    await inWorld(async (world) => {
      for (const command of COMMANDS) {
        const run = await runLion([...wordsOf(command), '--no-such-option'], world);
        expectFault(run, pathOf(command));
        expect(run.stderr).toContain(`${pathOf(command)} --help`);
      }
    });
  });

  it('refuses to be called without what it needs', async () => {
    await inWorld(async (world) => {
      const needy = VERBS.filter(
        ({ registeredArguments, options }) =>
          registeredArguments.some(({ required }) => required) || options.some(({ mandatory }) => mandatory),
      );
      expect(needy.length).toBeGreaterThan(5);
      for (const verb of needy) expectFault(await runLion(wordsOf(verb), world), pathOf(verb));
      for (const words of [
        ['job', 'submit'],
        ['agent'],
        ['play'],
        ['orchestrate', 'flow'],
        ['notify', 'retry'],
        ['job', 'prune'],
      ]) {
        expectFault(await runLion(words, world), words.join(' '));
      }
    });
  });

  it('refuses words it has no use for', async () => {
    await inWorld(async (world) => {
      const strict = VERBS.filter(({ registeredArguments }) => !registeredArguments.at(-1)?.variadic);
      for (const verb of strict) {
        const run = await runLion([...wordsOf(verb), 'a', 'b', 'c'], world);
        expectFault(run, pathOf(verb));
      }
    });
  });
});

describe('a command line that is none', () => {
  it('a group by itself names its verbs, for a person with what they do', async () => {
    await inWorld(async (world) => {
      for (const group of GROUPS) {
        const run = await runLion(wordsOf(group), world);
        const [fault, ...help] = run.stderr.split(/(?<=\n)/);
        expectFault({ ...run, stderr: fault ?? '' }, pathOf(group));
        expect(help.join('')).toMatch(/^\nUsage: lion .*\n/);
        const { error } = await ask(world, wordsOf(group));
        expect(error?.message).toMatch(/^.+$/);
        for (const verb of group.createHelp().visibleCommands(group)) {
          expect(fault).toContain(verb.name());
          expect(help.join('').replaceAll(/\s+/g, ' ')).toContain(verb.description());
          expect(error?.message).toContain(verb.name());
        }
      }
    });
  });

  it.each([
    [['jbo'], 'job'],
    [['job', 'lits'], 'list'],
    [['notify', 'rety'], 'retry'],
    [['job', 'list', '--outcom', 'failed'], '--outcome'],
  ])('%j: did you mean %s?', async (words, meant) => {
    await inWorld(async (world) => {
      const run = await runLion(words, world);
      expectFault(run, words.join(' '));
      expect(run.stderr).toContain(`did you mean ${meant}?`);
      const { error } = await ask(world, words);
      expect(error).toMatchObject({ kind: 'invalid_input' });
      expect(error?.message).toContain(`did you mean ${meant}?`);
    });
  });
});

describe('a run that is not there', () => {
  it('a slip in an id is answered with the run that may be meant, by every verb', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      const typed = runIdOf(1).replace(/-a(.)/, '-$1a');
      for (const words of [
        ['job', 'status'],
        ['job', 'wait'],
        ['job', 'output'],
        ['job', 'output', '--follow'],
        ['job', 'watch'],
        ['job', 'kill'],
        ['notify', 'show'],
      ]) {
        const { stdout, stderr } = await runLion([...words, typed], world);
        expect(stdout + stderr, words.join(' ')).toContain(runIdOf(1));
        const unknown = await runLion([...words, 'nothing-like-it'], world);
        expect(unknown.stdout + unknown.stderr, words.join(' ')).toContain('lion job list');
      }
      const { error } = await ask(world, ['job', 'status', typed]);
      expect(error).toMatchObject({ kind: 'not_found', detail: { candidates: [runIdOf(1)] } });
    });
  });

  it('near is a slip or two in the whole id, one in its end', () => {
    const names = ['20260725T175010-97f334', '20260725T175011-aaaaaa'];
    expect(nearNames(names, '20260725T175010-97f343')).toEqual([names[0]]);
    expect(nearNames(names, '2026725T175010-97f34')).toEqual([names[0]]);
    expect(nearNames(names, '79f334')).toEqual([names[0]]);
    expect(nearNames(names, '97f34')).toEqual([names[0]]);
    expect(nearNames(names, '97F335')).toEqual([names[0]]);
    expect(nearNames(names, '79f335')).toEqual([]);
    expect(nearNames(names, '')).toEqual([]);
  });
});
