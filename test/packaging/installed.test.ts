import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODULES } from '../support/bundle.ts';
import { inWorld } from '../support/in-world.ts';
import { type LionCall, runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { openShelf, type Shelf } from '../support/package-shelf.ts';
import { type Installed, installGlobally, npm, type Packed, pack } from '../support/packed.ts';
import { endOf, layEnded, layGone, REAPED, runIdOf } from '../support/runs-of-all-sorts.ts';
import { ended, submitCommand } from '../support/submitted.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeWorld, type World } from '../support/world.ts';

/** An index is complete some seconds after a start, on a machine that has time. */
const WITHIN_MS = 60_000;
const ORDINARY_USER = process.getuid?.() === 0 ? 65534 : undefined;

/** Who gets it did not install it; the prefix has what a careless script would take apart. */
let installing: World;
let packed: Packed;
let shelf: Shelf;
let installed: Installed;

beforeAll(async () => {
  installing = await makeWorld();
  packed = await pack(installing);
  shelf = await openShelf(installing);
  const prefix = join(installing.root, `a pr\u00e9fix of "ours"`);
  installed = await installGlobally(installing, packed, prefix, shelf, ['--ignore-scripts']);
}, 180_000);

afterAll(async () => {
  makeWritable(installed.prefix);
  expect(await installing.dispose()).toEqual([]);
});

describe('installed globally from the tarball', () => {
  it('without scripts, in a prefix with spaces and other letters that nobody may write to: another user has it all', async () => {
    await inWorld(async (world) => {
      giveStore(world);
      makeReadOnly(installed.prefix);
      const before = listingOf(installed.prefix);
      const call = asUserOf(world, installed);
      expect(await askData(world, ['handshake'], call)).toMatchObject({ contract_version: 1 });

      const run = await submitCommand(world, ['sh', '-c', 'exit 3'], [], call);
      expect(await ended(run)).toMatchObject({ exit_code: 3, terminal_source: 'cli_terminal_hook' });
      const gone = await layGone(world, runIdOf(1));
      giveStore(world);
      const supervisor = await startSupervisor(world, {
        main: installed.liond,
        through: 'shift; exec "$@"',
        uid: ORDINARY_USER,
      });
      await waitUntil('the gone run to be ended', () => gone.record().get('finished_at'), WITHIN_MS);
      expect(endOf(gone)).toEqual(REAPED);
      const list = await askData(world, ['job', 'list'], call);
      expect(list.jobs.map((job: { run_id: string }) => job.run_id)).toEqual([run.runId, gone.runId]);
      // The scripts of better-sqlite3 were not run, so its native part is not there.
      const status = await askData(world, ['daemon', 'status'], call);
      expect(status).toMatchObject({ restart_needed: false, degraded: [{ code: 'index_unavailable' }] });
      expect((await supervisor.end('SIGTERM')).exitCode).toBe(0);
      expect(listingOf(installed.prefix)).toEqual(before);
    });
  });

  it('its index is used once SQLite is there, and without it again the list says no_library and is the same', async () => {
    await inWorld(async (world) => {
      const native = join(
        installed.home,
        'node_modules',
        'better-sqlite3',
        'build',
        'Release',
        'better_sqlite3.node',
      );
      makeWritable(installed.prefix);
      mkdirSync(dirname(native), { recursive: true });
      copyFileSync(join(MODULES, 'better-sqlite3', 'build', 'Release', 'better_sqlite3.node'), native);
      for (const n of [1, 2, 3])
        layEnded(world, runIdOf(n), 'completed', { finished_at: '2026-08-01T12:30:00+00:00' });
      giveStore(world);
      // An index says that it has all names only if the directory had lain still for two seconds.
      await waitUntil('an old directory', () => Date.now() - statSync(world.jobs).ctimeMs > 2_100);
      const call = asUserOf(world, installed);
      const supervisor = await startSupervisor(world, { main: installed.liond, uid: ORDINARY_USER });
      const quick = await waitUntil(
        'a list from the index',
        async () => {
          const data = await askData(world, ['job', 'list'], call);
          return data.index.used ? data : null;
        },
        WITHIN_MS,
      );
      await supervisor.end('SIGTERM');
      chmodSync(native, 0);
      copyFileSync('/dev/null', native);
      const slow = await askData(world, ['job', 'list'], call);
      expect(slow.index).toEqual({ used: false, why: 'no_library' });
      expect(slow.jobs).toEqual(quick.jobs);
      expect(slow.jobs).toHaveLength(3);
    });
  });

  it('where SQLite cannot be compiled, the installation goes on without it', async () => {
    await inWorld(async (world) => {
      const broken = await openShelf(world, { 'better-sqlite3': { install: 'exit 1' } });
      const installed = await installGlobally(installing, packed, join(world.root, 'prefix'), broken);
      expect(existsSync(join(installed.home, 'node_modules', 'better-sqlite3'))).toBe(false);
      layEnded(world, runIdOf(1), 'completed');
      giveStore(world);
      const { jobs } = await askData(world, ['job', 'list'], asUserOf(world, installed));
      expect(jobs).toMatchObject([{ run_id: runIdOf(1), outcome: 'succeeded' }]);
    });
  });

  it('is taken away with nothing left in the prefix, and the store is as it was', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, runIdOf(1), 'completed');
      const before = run.text();
      await npm(world, ['uninstall', '-g', '--prefix', installed.prefix, 'liond']);
      expect([installed.lion, installed.liond, installed.home].filter((path) => existsSync(path))).toEqual(
        [],
      );
      expect(run.text()).toBe(before);
    });
  });
});

describe('installed over an older version whose supervisor runs', () => {
  it('runs go on, lists stay right, the status says what to do, and doing it mends it', async () => {
    await inWorld(async (world) => {
      const prefix = join(world.root, 'prefix');
      const older = await pack(world, '0.0.9');
      const installed = await installGlobally(installing, older, prefix, shelf, ['--ignore-scripts']);
      giveStore(world);
      const call = asUserOf(world, installed);
      const old = await startSupervisor(world, { main: installed.liond, uid: ORDINARY_USER });
      const run = await submitCommand(
        world,
        ['sh', '-c', 'until [ -e go ]; do sleep 0.05; done; exit 5'],
        [],
        call,
      );

      await installGlobally(installing, packed, prefix, shelf, ['--ignore-scripts']);
      const { version } = JSON.parse(readFileSync(join(installed.home, 'package.json'), 'utf8'));
      expect(await askData(world, ['daemon', 'status'], call)).toMatchObject({
        state: 'running',
        version: '0.0.9',
        cli_version: version,
        restart_needed: true,
        degraded: expect.arrayContaining([expect.objectContaining({ code: 'version_differs' })]),
      });
      const shown = await runLion(['daemon', 'status'], { ...world, ...call });
      expect(shown.stdout).toMatch(
        /version_differs\n[\s\S]*liond 0\.0\.9[\s\S]*cure: restart the supervisor/,
      );
      const { jobs } = await askData(world, ['job', 'list'], call);
      expect(jobs).toMatchObject([{ run_id: run.runId, terminal: false, status: 'running' }]);

      // The run calls the program that started it, where another one is now.
      copyFileSync('/dev/null', join(world.cwd, 'go'));
      expect(await ended(run)).toMatchObject({ exit_code: 5, terminal_source: 'cli_terminal_hook' });
      expect((await old.end('SIGTERM')).exitCode).toBe(0);
      await startSupervisor(world, { main: installed.liond, uid: ORDINARY_USER });
      const after = await askData(world, ['daemon', 'status'], call);
      expect(after).toMatchObject({ version, restart_needed: false });
    });
  });
});

/** All but the prefix, which stays its installer's. */
function giveStore(world: World): void {
  if (ORDINARY_USER === undefined) return;
  for (const path of [world.home, world.cwd]) {
    for (const below of [
      path,
      ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)),
    ])
      chownSync(below, ORDINARY_USER, ORDINARY_USER);
  }
}

/** Calls `lion` by its name on the PATH, with a home and nothing else to go by. */
function asUserOf(world: World, { lion }: Installed): Partial<LionCall> {
  const { LIONAGI_HOME: _, ...env } = world.env;
  return {
    env: { ...env, PATH: `${dirname(lion)}:${dirname(process.execPath)}:/usr/bin:/bin` },
    through: ['/bin/sh', '-c', 'shift 2; exec lion "$@"', 'sh'],
    ...(ORDINARY_USER === undefined ? {} : { uid: ORDINARY_USER }),
  };
}

function makeReadOnly(prefix: string): void {
  for (const path of pathsIn(prefix)) chmodSync(path, statSync(path).mode & 0o555);
}

function makeWritable(prefix: string): void {
  for (const path of pathsIn(prefix)) chmodSync(path, statSync(path).mode | 0o200);
}

/** What is there, and when each of it was changed. */
function listingOf(prefix: string): string[] {
  return pathsIn(prefix).map((path) => `${path} ${statSync(path).mtimeMs}`);
}

function pathsIn(prefix: string): string[] {
  const below = readdirSync(prefix, { recursive: true, encoding: 'utf8' });
  return [prefix, ...below.map((name) => join(prefix, name))].filter((path) => existsSync(path)).sort();
}
