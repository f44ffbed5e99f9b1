import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LionError } from '../../../shared/contract/errors.ts';
import { homeOf } from '../../../shared/store/home.ts';
import { compareBytes, listRunNames } from '../../../shared/store/names.ts';
import { inWorld } from '../../support/in-world.ts';
import { runPython } from '../../support/python.ts';

describe('names in the store', () => {
  it('are listed newest first, directories and links to them, without plain files', async () => {
    await inWorld(async (world) => {
      for (const name of ['20260801T120001-aaaaaa', '20260801T120003-aaaaaa', '20260801T120002-ffffff'])
        mkdirSync(join(world.jobs, name), { recursive: true });
      symlinkSync('20260801T120001-aaaaaa', join(world.jobs, '20260801T120004-aaaaaa'));
      writeFileSync(join(world.jobs, '.DS_Store'), '');
      expect(listRunNames(world.jobs)).toEqual([
        '20260801T120004-aaaaaa',
        '20260801T120003-aaaaaa',
        '20260801T120002-ffffff',
        '20260801T120001-aaaaaa',
      ]);
    });
  });

  it('are listed by their bytes past the basic plane too, where code units have another order', async () => {
    await inWorld(async (world) => {
      const names = ['b', '\ufb01', '\u{1f600}'];
      for (const name of names) mkdirSync(join(world.jobs, name), { recursive: true });
      expect(listRunNames(world.jobs)).toEqual(names.toReversed());
    });
  });

  it('a store that is not there has none; one that cannot be listed is no empty store', async () => {
    await inWorld(async (world) => {
      expect(listRunNames(world.jobs)).toEqual([]);
      writeFileSync(join(world.root, 'file'), '');
      expect(() => listRunNames(join(world.root, 'file'))).toThrow(LionError);
    });
  });

  it('are in the order python3 sorts them in, past the basic plane too', async () => {
    const names = fc.sample(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }), {
      numRuns: 500,
      seed: 1,
    });
    const sorted = JSON.parse(
      await runPython('import json, sys; print(json.dumps(sorted(json.load(sys.stdin))))', {
        input: JSON.stringify([...names, '\uffff', '\u{10000}', '\ue000']),
      }),
    );
    expect([...names, '\uffff', '\u{10000}', '\ue000'].sort(compareBytes)).toEqual(sorted);
  });
});

describe('where a store is', () => {
  it.each([
    ['named', { HOME: '/h', LIONAGI_HOME: '/l' }, '/l'],
    ['not named', { HOME: '/h' }, '/h/.lionagi'],
    ['named with a tilde', { HOME: '/h', LIONAGI_HOME: '~/l' }, '/h/l'],
    ['named by the tilde alone', { HOME: '/h', LIONAGI_HOME: '~' }, '/h'],
    ['named relative', { HOME: '/h', LIONAGI_HOME: 'l' }, '/cwd/l'],
    ['named empty', { HOME: '/h', LIONAGI_HOME: '' }, '/h/.lionagi'],
    ['another user\u2019s tilde is a name like any', { HOME: '/h', LIONAGI_HOME: '~other' }, '/cwd/~other'],
  ])('%s', (_how, env, root) => {
    const home = homeOf(env, '/cwd');
    expect([home.root, home.jobsDir, home.stateDir, home.configFile]).toEqual([
      root,
      `${root}/mcp/jobs`,
      `${root}/mcp/liond`,
      `${root}/mcp/liond.yaml`,
    ]);
  });

  it('the supervisor\u2019s own things are never inside the jobs directory', () => {
    const home = homeOf({ HOME: '/h' }, '/');
    for (const path of [home.stateDir, home.configFile, home.runsDir])
      expect(path.startsWith(`${home.jobsDir}/`)).toBe(false);
  });
});
