import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeHealth } from '../../daemon/health-file.ts';
import type { Health } from '../../shared/daemon/health.ts';
import { IMPLEMENTATION_VERSION, INDEX_VERSION } from '../../shared/version.ts';
import { hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { type Installation, installInto, through } from '../support/install.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { layEnded, layGone, runIdOf } from '../support/runs-of-all-sorts.ts';
import { giveToOrdinaryUser } from '../support/someone-else.ts';
import { type RunningSupervisor, startSupervisor } from '../support/supervisor.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import type { World } from '../support/world.ts';

const STATUS = ['daemon', 'status'];
const stateOf = (world: World): string => join(world.lionagiHome, 'mcp', 'liond');

/** Health as a supervisor writes it now. */
function healthOf(world: World, { pid }: RunningSupervisor, members: Partial<Health> = {}): Health {
  const at = new Date().toISOString();
  return {
    pid,
    version: IMPLEMENTATION_VERSION,
    index_version: INDEX_VERSION,
    started_at: at,
    updated_at: at,
    jobs_dir: world.jobs,
    runs: 12,
    open: 3,
    queue: 1,
    sweeps: { names_at: at, stats_at: null, probed_at: at },
    watches: 5,
    notices: { under_way: 1, owed: 2, retrying: 3, parked: 4, unknown: 5 },
    degraded: [],
    ...members,
  };
}

/** A supervisor whose health is what the test says: it is stopped so that it does not write its own over it. */
async function frozen(world: World, members: Partial<Health> = {}): Promise<RunningSupervisor> {
  const supervisor = await startSupervisor(world);
  supervisor.signal('SIGSTOP');
  expect(writeHealth(stateOf(world), healthOf(world, supervisor, members))).toBeNull();
  return supervisor;
}

const codesOf = (data: { degraded: { code: string }[] }): string[] => data.degraded.map(({ code }) => code);

describe('lion daemon status', () => {
  it('without a supervisor, without a store: says so with a cure, exits 1, and makes nothing', async () => {
    await inWorld(async (world) => {
      rmSync(world.lionagiHome, { recursive: true });
      const { stdout, stderr, exitCode } = await runLion(STATUS, world);
      expect([exitCode, stderr]).toEqual([1, '']);
      expect(stdout).toMatch(
        /^liond is not running\n[\s\S]*supervisor_not_running\n[\s\S]*cure: .*lion daemon run/,
      );
      expect(await askData(world, STATUS)).toMatchObject({
        state: 'stopped',
        running: false,
        pid: null,
        version: null,
        started_at: null,
        restart_needed: false,
        health: null,
        degraded: [{ code: 'supervisor_not_running' }],
      });
      expect(existsSync(world.lionagiHome)).toBe(false);
    });
  });

  it('of one that is well: running, its pid, since when and its figures; exit 0', async () => {
    await inWorld(async (world) => {
      const supervisor = await frozen(world);
      const data = await askData(world, STATUS);
      expect(data).toMatchObject({
        state: 'running',
        running: true,
        pid: supervisor.pid,
        started_at: expect.stringMatching(/^20.*\+00:00$/),
        degraded: [],
        health: { runs: 12, notices: { parked: 4 } },
      });
      expect(data.version).toBe(data.cli_version);
      const { stdout, exitCode } = await runLion(STATUS, world);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(new RegExp(`^liond is running \\(pid ${supervisor.pid}\\)\\n`));
      for (const words of [
        '12, 3 not ended, 1 waiting',
        '1 under way, 2 owed, 3 retrying, 4 parked, 5 unknown',
      ])
        expect(stdout).toContain(words);
    });
  });

  it('of one that has just started and said nothing yet: starting, exit 1', async () => {
    await inWorld(async (world) => {
      const supervisor = await startSupervisor(world);
      supervisor.signal('SIGSTOP');
      rmSync(join(stateOf(world), 'health.json'), { force: true });
      expect(await askData(world, STATUS)).toMatchObject({ state: 'starting', health: null, degraded: [] });
      expect((await runLion(STATUS, world)).exitCode).toBe(1);
    });
  });

  it('of one that is frozen: it answers at once, calls it stalled and says what to do', async () => {
    await inWorld(async (world) => {
      const late = new Date(Date.now() - 60_000).toISOString();
      await frozen(world, { updated_at: new Date(Date.now() + 1_000).toISOString() });
      const lock = join(stateOf(world), 'instance.lock');
      writeFileSync(
        lock,
        readFileSync(lock, 'utf8').replace(/"started_at":"[^"]*"/, `"started_at":"${late}"`),
      );
      const health = JSON.parse(readFileSync(join(stateOf(world), 'health.json'), 'utf8'));
      writeHealth(stateOf(world), { ...health, updated_at: new Date(Date.now() - 50_000).toISOString() });
      expect(await askData(world, STATUS)).toMatchObject({
        state: 'stalled',
        running: true,
        health: { runs: 12 },
      });
      const { stdout, exitCode } = await runLion(STATUS, world);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/^liond is stalled \(pid \d+\)\n[\s\S]*supervisor_stalled\n[\s\S]*cure: /);
    });
  });

  it('case 82: a supervisor that does without something is degraded in a field, in words, and in the exit status', async () => {
    await inWorld(async (world) => {
      const degraded = [{ code: 'watch_limit', cause: 'no more watches', cure: 'raise the limit' }];
      await frozen(world, { degraded });
      expect(await askData(world, STATUS)).toMatchObject({ state: 'running', degraded });
      const { stdout, exitCode } = await runLion(STATUS, world);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/^liond is running, degraded /);
      expect(stdout).toContain('watch_limit\n  no more watches\n  cure: raise the limit\n');
    });
  });

  it('case 82: a liond.yaml that does not parse now is named, with what is wrong in it', async () => {
    await inWorld(async (world) => {
      await frozen(world);
      writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), 'no_such_key: 1\n');
      const data = await askData(world, STATUS);
      expect(codesOf(data)).toEqual(['config_invalid']);
      expect(data.degraded[0].cause).toContain('no_such_key');
      expect((await runLion(STATUS, world)).exitCode).toBe(1);
    });
  });

  it.each([
    ['cut off', '{"pid": '],
    ['of another shape', '[]'],
    ['empty', ''],
  ])('a health file that is damaged (%s) is said to be, and the rest is answered', async (_what, text) => {
    await inWorld(async (world) => {
      const supervisor = await frozen(world);
      writeFileSync(join(stateOf(world), 'health.json'), text);
      const data = await askData(world, STATUS);
      expect(data).toMatchObject({ state: 'running', pid: supervisor.pid, health: null });
      expect(codesOf(data)).toEqual(['health_unreadable']);
      expect((await runLion(STATUS, world)).exitCode).toBe(1);
    });
  });

  it('what the files say cannot steer the terminal, and its lines keep to 80 columns', async () => {
    await inWorld(async (world) => {
      const hostile = '\u001b[31m\u202e\n';
      await frozen(world, {
        degraded: [{ code: `c${hostile}`, cause: `${hostile}${'long words '.repeat(30)}`, cure: hostile }],
      });
      const lock = join(stateOf(world), 'instance.lock');
      writeFileSync(lock, readFileSync(lock, 'utf8').replace('"version":"', '"version":"\\u001b[31m'));
      const { stdout } = await runLion(STATUS, world);
      expect(hostileBits(stdout)).toEqual([]);
      const { screen } = await lionOnTerminal(world, STATUS, { env: { NO_COLOR: '1' } });
      const long = screen.split('\n').filter((line) => line.length > 80 && !line.includes(world.root));
      expect(long).toEqual([]);
    });
  });

  it('a lock that may not be looked at is no answer, neither running nor stopped', async () => {
    await inWorld(async (world) => {
      await (await startSupervisor(world)).end('SIGTERM');
      const who = giveToOrdinaryUser(world);
      const lock = join(stateOf(world), 'instance.lock');
      execFileSync('chown', ['0:0', lock]);
      const envelope = await ask(world, STATUS, who);
      expect(envelope.error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('EACCES'),
      });
    });
  });

  it('an installation that cannot lock cannot tell: exit 78', async () => {
    await inWorld(async (world) => {
      const installation = installInto(world, 'broken', ['koffi']);
      const { exitCode, stdout } = await runLion([...STATUS, '--machine'], {
        ...world,
        ...through(installation),
      });
      expect([exitCode, stdout]).toEqual([78, '']);
    });
  });
});

/** The same programs under another version, as the package of an upgrade is. */
function installVersion(world: World, version: string): Installation {
  const installation = installInto(world, version);
  for (const name of readdirSync(installation.dist, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join(installation.dist, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(`version:"${IMPLEMENTATION_VERSION}"`, `version:"${version}"`));
  }
  return installation;
}

describe('case 43: the supervisor is of another version than the CLI', () => {
  it.each([
    ['older', '0.0.9'],
    ['newer', '0.2.0'],
  ])(
    'case 43: %s: both versions, since when, and that it is to be restarted; list and reap as ever',
    async (_what, version) => {
      await inWorld(async (world) => {
        const installation = installVersion(world, version);
        layEnded(world, runIdOf(1), 'completed');
        const supervisor = await startSupervisor(world, { main: installation.liond });
        const data = await askData(world, STATUS);
        expect(data).toMatchObject({
          running: true,
          pid: supervisor.pid,
          version,
          cli_version: IMPLEMENTATION_VERSION,
          started_at: expect.stringMatching(/^20/),
          restart_needed: true,
        });
        const [found] = data.degraded.filter(({ code }: { code: string }) => code === 'version_differs');
        expect(found.cause).toMatch(
          new RegExp(
            `liond ${version.replaceAll('.', '\\.')}.*lion ${IMPLEMENTATION_VERSION.replaceAll('.', '\\.')}`,
          ),
        );
        const { stdout, exitCode } = await runLion(STATUS, world);
        expect(exitCode).toBe(1);
        expect(stdout).toMatch(/version_differs[\s\S]*cure: restart the supervisor/);
        expect((await askData(world, ['job', 'list'])).jobs).toHaveLength(1);
        const gone = await layGone(world, runIdOf(2));
        expect(await askData(world, ['job', 'status', gone.runId])).toMatchObject({ terminal: true });
      });
    },
  );

  it('case 43: with the same version nothing is to be restarted', async () => {
    await inWorld(async (world) => {
      const installation = installVersion(world, '0.2.0');
      await startSupervisor(world, { main: installation.liond });
      const data = await askData(world, STATUS, through(installation));
      expect(data).toMatchObject({ version: '0.2.0', cli_version: '0.2.0', restart_needed: false });
    });
  });
});
