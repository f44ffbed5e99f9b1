import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../shared/config-defaults.ts';
import { homeOf } from '../../shared/store/home.ts';
import { placeFault } from '../../shared/store/place.ts';
import { inWorld } from '../support/in-world.ts';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { layGone, runIdOf } from '../support/runs-of-all-sorts.ts';
import { spawnSupervisor, startSupervisor, supervisorLog } from '../support/supervisor.ts';
import type { World } from '../support/world.ts';

const HOME = homeOf({ LIONAGI_HOME: '/net/home/a/.lionagi' }, '/');

describe('case 51: a store on a filesystem that is not known to be local', () => {
  it.each([['jobs'], ['liond']])('case 51: is refused for its %s directory, with cause and cure', (name) => {
    const fault = placeFault(HOME, DEFAULT_CONFIG, (path) => !path.endsWith(name));
    expect(fault).toContain(
      `/net/home/a/.lionagi/mcp/${name} is on a filesystem that is not known to be local`,
    );
    expect(fault).toContain('LIONAGI_HOME');
    expect(fault).toContain('judge_unowned_records: true in /net/home/a/.lionagi/mcp/liond.yaml');
  });

  it('case 51: is taken where the configuration says that it is used from one place only', () => {
    expect(placeFault(HOME, { ...DEFAULT_CONFIG, judgeUnownedRecords: true }, () => false)).toBeNull();
  });

  it('a local one is taken', () => {
    expect(placeFault(HOME, DEFAULT_CONFIG, () => true)).toBeNull();
  });
});

const whyNot = whyNoMountNamespace();

/** A real filesystem of a type that is not on the list, over the jobs directory of one supervisor alone. */
function elsewhere(world: World): { through: string } {
  mkdirSync(world.jobs, { recursive: true });
  const script = `mount -t hugetlbfs none '${world.jobs}' && exec "$@"`;
  return {
    through: `exec unshare -m --propagation private /bin/sh -c '${script.replaceAll("'", `'\\''`)}' sh "$@"`,
  };
}

describe.skipIf(whyNot !== null)('case 51: a supervisor at such a store', () => {
  it('case 51: does not start: exit 78, and the log says why', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, runIdOf(1));
      const before = run.text();
      const supervisor = spawnSupervisor(world, elsewhere(world));
      expect((await supervisor.ended()).exitCode, supervisor.complained()).toBe(78);
      expect([supervisor.said(), run.text()]).toEqual(['', before]);
      expect(supervisor.complained()).toContain(`${world.jobs} is on a filesystem`);
      expect(JSON.parse(supervisorLog(world))).toMatchObject({ event: 'fatal', exit_code: 78 });
      expect(existsSync(join(world.lionagiHome, 'mcp', 'liond', 'instance.lock'))).toBe(false);
    });
  });

  it('case 51: starts where the configuration says that it is the only place', async () => {
    await inWorld(async (world) => {
      const place = elsewhere(world);
      writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), 'judge_unowned_records: true\n');
      const supervisor = await startSupervisor(world, place);
      expect(supervisor.complained()).toBe('');
    });
  });
});
