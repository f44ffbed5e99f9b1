import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderUnit } from '../../cli/service/unit.ts';
import { inWorld } from '../support/in-world.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { type SubmittedRun, submitCommand } from '../support/submitted.ts';
import { LIOND_MAIN } from '../support/supervisor.ts';
import { startUserManager, type UserManager, whyNoUserManager } from '../support/user-manager.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const why = whyNoUserManager();
const UNIT = '.config/systemd/user/liond.service';

interface Place {
  readonly world: World;
  readonly manager: UserManager;
  /** The data of `lion daemon ...`. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  daemon(...args: readonly string[]): Promise<any>;
  submit(...argv: readonly string[]): Promise<SubmittedRun>;
  readonly unit: string;
}

async function withManager(work: (place: Place) => Promise<void>, uid = 0): Promise<void> {
  await inWorld(async (world) => {
    const manager = await startUserManager(world, uid);
    await work({
      world,
      manager,
      daemon: (...args) => askData(world, ['daemon', ...args], manager.call),
      submit: (...argv) => submitCommand(world, argv, [], manager.call),
      unit: join(world.home, UNIT),
    });
  });
}

const pidOf = (manager: UserManager): number => Number(manager.shows('MainPID'));

function configure(world: World, text: string): void {
  mkdirSync(join(world.lionagiHome, 'mcp'), { recursive: true });
  writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), text);
}

/** Everything under the home but the store. */
function leftIn(world: World): string[] {
  return readdirSync(world.home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(world.lionagiHome));
}

describe.skipIf(why !== null)(`under a real user manager (${why ?? 'here'})`, () => {
  it.each([
    ['root', 0],
    ['another user', 12_345],
  ])(
    'as %s: install makes it active and enabled, a second time changes nothing, uninstall leaves nothing',
    async (_who, uid) => {
      await withManager(async ({ world, manager, daemon, unit }) => {
        const before = leftIn(world);
        const dry = await daemon('install', '--dry-run');
        expect(dry).toMatchObject({ manager: 'systemd', dry_run: true, result: 'installed', file: unit });
        expect(leftIn(world)).toEqual(before);
        const first = await daemon('install');
        expect(first).toMatchObject({ result: 'installed', state: 'active', linger: false });
        expect(first.steps).toEqual(dry.steps);
        expect(manager.shows('UnitFileState')).toBe('enabled');
        expect(first.pid).toBe(pidOf(manager));
        expect(readFileSync(unit, 'utf8')).toBe(dry.steps[0].content);
        const { mtimeMs } = statSync(unit);
        expect(await daemon('install')).toMatchObject({ result: 'unchanged', steps: [], pid: first.pid });
        expect(statSync(unit).mtimeMs).toBe(mtimeMs);
        const said = await runLion(['daemon', 'install'], { ...world, ...manager.call });
        expect(said.stdout).toMatch(/^already installed, nothing changed\n/);
        expect(await daemon('status')).toMatchObject({
          state: 'running',
          pid: first.pid,
          linger: false,
          degraded: [],
        });

        expect((await daemon('uninstall', '--dry-run')).pid).toBe(first.pid);
        expect(await daemon('uninstall')).toMatchObject({ result: 'uninstalled', state: 'not installed' });
        expect(leftIn(world)).toEqual(before);
        expect(manager.isThere(first.pid)).toBe(false);
        await forgotten(manager);
        expect(await daemon('uninstall')).toMatchObject({ result: 'unchanged', steps: [] });
        expect((await ask(world, ['daemon', 'start'], manager.call)).error?.kind).toBe('not_found');
      }, uid);
    },
  );

  it('case 1: runs outlive stop, start, restart and kill -9 of the service, also one that a notifier submitted', async () => {
    await withManager(async ({ world, manager, daemon, submit }) => {
      await daemon('install');
      const own = await submit('sh', '-c', 'while :; do echo going on; sleep 0.1; done');
      const inner = JSON.stringify([
        process.execPath,
        LION_MAIN,
        'job',
        'submit',
        '--label',
        'inner',
        '--',
        'sleep',
        '600',
      ]);
      const notifier = makeNotifier(
        world,
        'notifier',
        `import subprocess\nsubprocess.run(${inner}, check=True)`,
      );
      const doomed = await submitCommand(
        world,
        ['sleep', '600'],
        ['--notify-command', notifier.command],
        manager.call,
      );
      killGroup(manager, doomed.pid);
      // Read off the disk: a list would end the run itself, and send its notice from outside of the service.
      const innerId = await waitUntil('the run of the notifier', () => runningAs(world, 'inner'), 30_000);
      // It is in the control group of the service, where a stop by the group would find it.
      expect(manager.run('cat', `/proc/${pidOfRun(world, innerId)}/cgroup`)).toMatch(/liond\.service/);
      const pids = [own.runId, innerId].map((id) => pidOfRun(world, id));
      const bothLive = async (): Promise<void> => {
        for (const id of [own.runId, innerId])
          expect((await askData(world, ['job', 'status', id], manager.call)).status).toBe('running');
        expect([own.runId, innerId].map((id) => pidOfRun(world, id))).toEqual(pids);
        const { size } = statSync(own.log);
        await waitUntil('its log to grow', () => statSync(own.log).size > size);
      };

      expect(await daemon('restart')).toMatchObject({ result: 'restarted', state: 'active' });
      await bothLive();
      expect(await daemon('stop')).toMatchObject({ result: 'stopped', state: 'inactive', pid: null });
      await bothLive();
      expect(await daemon('stop')).toMatchObject({ result: 'unchanged' });
      const started = await daemon('start');
      expect(started).toMatchObject({ result: 'started', state: 'active' });
      expect(await daemon('start')).toMatchObject({ result: 'unchanged', pid: started.pid });
      manager.signal(started.pid, 'KILL');
      await waitUntil(
        'another supervisor',
        () =>
          pidOf(manager) !== 0 && pidOf(manager) !== started.pid && manager.shows('ActiveState') === 'active',
        30_000,
      );
      expect(manager.shows('NRestarts')).toBe('1');
      await bothLive();
      await daemon('uninstall');
      await bothLive();
    });
  });

  it('a configuration that cannot work (78) is started once: install says why and takes everything back', async () => {
    await withManager(async ({ world, manager, daemon, unit }) => {
      configure(world, 'notify: 7\n');
      const { error } = await ask(world, ['daemon', 'install'], manager.call);
      expect(error?.kind).toBe('unavailable');
      expect(error?.message).toMatch(
        /restart|start liond\.service failed[\s\S]*undone[\s\S]*liond says: .*notify/,
      );
      expect(existsSync(unit)).toBe(false);
      expect(leftIn(world)).toEqual([]);
      expect(manager.shows('LoadState')).toBe('not-found');

      rmSync(join(world.lionagiHome, 'mcp', 'liond.yaml'));
      await daemon('install');
      configure(world, 'notify: 7\n');
      expect((await ask(world, ['daemon', 'restart'], manager.call)).error?.message).toMatch(
        /liond says: .*notify/,
      );
      await new Promise((resolve) => setTimeout(resolve, 7_000)); // longer than RestartSec
      expect(manager.shows('ExecMainStatus')).toBe('78');
      expect(manager.shows('ActiveState')).toBe('failed');
      expect(manager.shows('NRestarts')).toBe('0');
      expect(await daemon('uninstall')).toMatchObject({ state: 'not installed' });
      await forgotten(manager);
    });
  });

  it('a second supervisor (75) is no reason to restart: install names the other and takes everything back', async () => {
    await withManager(async ({ world, manager, daemon, unit }) => {
      manager.run(
        'systemd-run',
        '--user',
        '--quiet',
        '--unit=other',
        `--setenv=HOME=${world.home}`,
        `--setenv=LIONAGI_HOME=${world.lionagiHome}`,
        process.execPath,
        LION_MAIN,
        'daemon',
        'run',
      );
      await waitUntil('the other', async () => (await daemon('status')).state === 'running', 20_000);
      const { error } = await ask(world, ['daemon', 'install'], manager.call);
      expect(error?.message).toMatch(/liond says: another liond looks after .*pid \d+/);
      expect(existsSync(unit)).toBe(false);
      expect((await daemon('status')).state).toBe('running');
    });
  });

  it('case 7: a stale registration, of paths that are gone, is healed; the notifier is found by its name alone', async () => {
    await withManager(async ({ world, manager, daemon, unit }) => {
      const notifier = makeNotifier(world, 'only-on-my-path');
      const env = { ...world.env, PATH: `${world.bin}:${world.env.PATH}` };
      const call = { ...manager.call, env };
      mkdirSync(dirname(unit), { recursive: true });
      const text = (await askData(world, ['daemon', 'install', '--dry-run'], call)).steps[0].content;
      writeFileSync(
        unit,
        text.replace(/^ExecStart=.*$/m, 'ExecStart=/opt/gone/24.1.0/bin/node /opt/gone/main.js'),
      );
      manager.systemctl('daemon-reload');
      manager.systemctl('enable', 'liond.service');
      expect(() => manager.systemctl('start', 'liond.service')).toThrow();
      expect(await askData(world, ['daemon', 'install'], call)).toMatchObject({
        result: 'healed',
        state: 'active',
      });
      const run = await submitCommand(
        world,
        ['sleep', '600'],
        ['--notify-command', '["only-on-my-path", "{run_id}"]'],
        call,
      );
      killGroup(manager, run.pid);
      await waitUntil('the notice', () => notifier.calls().length === 1, 30_000);
      expect(await daemon('logs', '--lines', '3')).toMatchObject({
        file: join(world.lionagiHome, 'mcp', 'liond', 'liond.log'),
        lines: [expect.any(String), expect.any(String), expect.any(String)],
      });
      // The unit file that somebody removed by hand.
      rmSync(unit);
      expect(await daemon('uninstall')).toMatchObject({ result: 'uninstalled', state: 'not installed' });
      expect(leftIn(world)).toEqual([]);
    });
  });

  it('paths with everything that systemd reads otherwise come through as they are', async () => {
    await withManager(async ({ world, manager, unit }) => {
      const odd = join(world.root, `a %h $HOME \${X} "q" 'p' \\x20 ; é`);
      mkdirSync(odd);
      const env = { ...world.env, LIONAGI_HOME: odd, PATH: `${odd}:/usr/bin:/bin` };
      const { pid } = await askData(world, ['daemon', 'install'], { ...manager.call, env });
      const told = manager.run('cat', `/proc/${pid}/environ`).split('\0');
      expect(told).toContain(`LIONAGI_HOME=${odd}`);
      expect(told).toContain(`PATH=${odd}:/usr/bin:/bin:/usr/local/bin`);
      await waitUntil('its health', () => existsSync(join(odd, 'mcp', 'liond', 'health.json')));

      // Of a program's path systemd takes no quotes and no backslash, however they are written.
      const place = join(world.root, `b %h $HOME \${X} ; é`);
      mkdirSync(place);
      const [node, script] = [join(place, 'node'), join(odd, '$main $$.js')];
      symlinkSync(process.execPath, node);
      symlinkSync(LIOND_MAIN, script);
      const template = readFileSync(new URL('../../systemd/liond.service', import.meta.url), 'utf8');
      const values = { node, script, env: { HOME: world.home, LIONAGI_HOME: odd } };
      writeFileSync(unit, renderUnit(template, values, { systemd: 252, lingerIsOurs: false }));
      manager.systemctl('daemon-reload');
      manager.systemctl('restart', 'liond.service');
      const argv = manager.run('cat', `/proc/${pidOf(manager)}/cmdline`).split('\0');
      expect(argv[1]).toBe(script);
    });
  });

  it('case 1: a stop lets a notice finish; one that does not is ended with its children, within the bound', async () => {
    await withManager(async ({ world, manager, daemon }) => {
      configure(world, 'notify:\n  timeout_seconds: 4\n');
      await daemon('install');
      const done = join(world.root, 'done');
      const quick = makeNotifier(world, 'quick', `time.sleep(2)\nopen(${JSON.stringify(done)}, "w").close()`);
      const slow = makeNotifier(world, 'slow', 'import subprocess\nsubprocess.run(["sleep", "612"])');
      for (const notifier of [quick, slow]) {
        const options = ['--notify-command', notifier.command];
        const run = await submitCommand(world, ['sleep', '600'], options, manager.call);
        killGroup(manager, run.pid);
      }
      await waitUntil(
        'both to be under way',
        () => [quick, slow].every((each) => each.calls().length === 1),
        30_000,
      );
      const began = performance.now();
      await daemon('stop');
      expect(performance.now() - began).toBeLessThan(20_000);
      expect(existsSync(done)).toBe(true);
      expect(manager.run('ps', '-eo', 'args')).not.toMatch(/sleep 612|\/slow/);
    });
  });
});

/** The leader and whatever it started, as a person with `kill -9` does. */
function killGroup(manager: UserManager, pid: number): void {
  manager.run('kill', '-KILL', '--', `-${pid}`);
}

function runningAs(world: World, label: string): string | null {
  const found = readdirSync(world.jobs).find((runId) => {
    const file = join(world.jobs, runId, 'job.json');
    if (!existsSync(file)) return false;
    const record = JSON.parse(readFileSync(file, 'utf8'));
    return record.label === label && record.pid !== null;
  });
  return found ?? null;
}

function pidOfRun(world: World, runId: string): number {
  return JSON.parse(readFileSync(join(world.jobs, runId, 'job.json'), 'utf8')).pid;
}

/** A unit that was asked about is kept for a moment, as `not-found`. */
async function forgotten(manager: UserManager): Promise<void> {
  const listed = (): string => manager.systemctl('list-units', '--all', '--no-legend', 'liond*');
  await waitUntil('the manager to know of no such unit', () => listed() === '');
}
