import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LionError } from '../../../shared/contract/errors.ts';
import { homeOf, runDirOf } from '../../../shared/store/home.ts';
import { isRunId, resolveRunId } from '../../../shared/store/run-id.ts';
import { inWorld } from '../../support/in-world.ts';
import type { World } from '../../support/world.ts';

const HOME = homeOf({ HOME: '/home/somebody' }, '/');

/** What somebody might try, and what a record might hold. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('.', '/', '\0', 'a', '-', ' ', '\\', '~', '%2f', '\n', '..') }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '.',
    '..',
    '...',
    '',
    ' ',
    '\t',
    '../x',
    'a/..',
    '/etc',
    'a\0b',
    '~',
    '-rf',
    'a/',
    '\u2215',
  ),
);

describe('a run id', () => {
  it.each([
    '20260801T120001-aaaaaa',
    'x',
    '...',
    '.hidden',
    '-rf',
    '~',
    'a b',
    'a\\b',
    '\u00e9',
    '%2e%2e',
    '\n.',
  ])('takes %j, which is one path component', (id) => expect(isRunId(id)).toBe(true));

  it.each(['', ' ', '\t\n', '.', '..', '/', 'a/b', '../x', 'a/', '/a', 'a\0b', '\0', '\u00a0'])(
    'refuses %j',
    (id) => expect(isRunId(id)).toBe(false),
  );

  it('whatever is taken names a directory of the store and nothing else', () => {
    fc.assert(
      fc.property(text, (id) => {
        if (!isRunId(id)) return;
        const dir = runDirOf(HOME, id);
        expect(dirname(dir)).toBe(HOME.jobsDir);
        expect(basename(dir)).toBe(id);
        expect(resolve(dir)).toBe(normalize(dir));
        expect(dir).not.toContain('\0');
      }),
      { numRuns: 3_000 },
    );
  });

  it('whatever is refused is refused by whoever asks for a run, before any path is made of it', () => {
    fc.assert(
      fc.property(text, (id) => {
        if (isRunId(id)) return;
        expect(() => resolveRunId(HOME, id)).toThrow(LionError);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the run a person means', () => {
  const lay = (world: World, ...names: string[]): ReturnType<typeof homeOf> => {
    for (const name of names) {
      mkdirSync(join(world.jobs, name), { recursive: true });
      writeFileSync(join(world.jobs, name, 'job.json'), '{}');
    }
    return homeOf(world.env, world.cwd);
  };
  const kindOf = (ask: () => unknown): string => {
    try {
      return `answered ${JSON.stringify(ask())}`;
    } catch (error) {
      return error instanceof LionError ? error.kind : String(error);
    }
  };

  it.each([
    ['aa', 'ab', 'itself', 'aa', 'aa'],
    ['aab', 'ab', 'a beginning', 'aa', 'aab'],
    ['aab', 'ac', 'an end', 'b', 'aab'],
    ['aab', 'ac', 'nothing', 'zz', 'zz'],
  ])('of %s and %s, %s: %s is %s', async (one, other, _how, asked, found) => {
    await inWorld(async (world) => {
      expect(resolveRunId(lay(world, one, other), asked)).toBe(found);
    });
  });

  it('what two share is a conflict with at most ten of their names', async () => {
    await inWorld(async (world) => {
      const home = lay(world, ...Array.from({ length: 12 }, (_, n) => `run-${n}`));
      expect(kindOf(() => resolveRunId(home, 'run-'))).toBe('conflict');
      try {
        resolveRunId(home, 'run-');
      } catch (error) {
        expect((error as LionError).detail?.candidates).toHaveLength(10);
        expect((error as LionError).message).toContain('12');
      }
    });
  });

  it('a run whose name begins and ends alike is found once', async () => {
    await inWorld(async (world) => {
      expect(resolveRunId(lay(world, 'aba'), 'a')).toBe('aba');
    });
  });

  it('a reservation stands in no run\u2019s way, and of reservations alone none is meant', async () => {
    await inWorld(async (world) => {
      const home = lay(world, 'run-1');
      for (const name of ['run-2', 'x-1', 'x-2']) mkdirSync(join(world.jobs, name));
      expect(resolveRunId(home, 'run-')).toBe('run-1');
      expect(resolveRunId(home, 'x-')).toBe('x-');
    });
  });

  it('a plain file is no run, and its name is taken at its word', async () => {
    await inWorld(async (world) => {
      const home = lay(world, 'run-1');
      writeFileSync(join(world.jobs, 'run-2'), '');
      expect(resolveRunId(home, 'run-')).toBe('run-1');
      expect(resolveRunId(home, 'run-2')).toBe('run-2');
    });
  });

  it('a store that cannot be listed is said, where the name has to be looked for', async () => {
    await inWorld(async (world) => {
      mkdirSync(join(world.lionagiHome, 'mcp'));
      writeFileSync(world.jobs, '');
      const home = homeOf(world.env, world.cwd);
      expect(kindOf(() => resolveRunId(home, 'run-1'))).toBe('answered "run-1"');
    });
  });
});
