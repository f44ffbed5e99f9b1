import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { holdInstanceLock } from '../support/lock-holder.ts';
import { ask, askData } from '../support/machine.ts';
import { layNotice } from '../support/notices-of-all-sorts.ts';
import { runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier, type NotifierStandIn } from '../support/stand-ins.ts';
import type { World } from '../support/world.ts';

/** Works only with a session's bus, as notify-send does. */
const NEEDS_BUS = `
if "TEST_SESSION_BUS" not in os.environ:
    print("connection refused", file=sys.stderr)
    sys.exit(1)`;

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The notifier that settings name, as most have it. */
function configure(world: World, body = ''): NotifierStandIn {
  const notifier = makeNotifier(world, 'notifier.py', body, []);
  write(
    join(world.home, '.lionagi', 'settings.yaml'),
    `notify:\n  on_terminal: ${notifier.file} {run_id} {status} "{label}"\n`,
  );
  return notifier;
}

function unitOf(world: World): string {
  return join(world.home, '.config/systemd/user/liond.service');
}

function installUnit(world: World, ...lines: string[]): void {
  write(unitOf(world), `[Service]\nExecStart=/bin/liond\n${lines.join('\n')}\n`);
}

describe('lion notify test', () => {
  it('runs the notifier once with a sample, says how it went, and records nothing', async () => {
    await inWorld(async (world) => {
      const notifier = configure(world);
      const data = await askData(world, ['notify', 'test']);
      expect(data).toMatchObject({
        source: 'settings',
        program: notifier.file,
        result: 'delivered',
        exit_code: 0,
        error: null,
        failure_class: null,
        duration_ms: expect.any(Number),
      });
      const [call] = notifier.calls();
      expect(notifier.calls()).toHaveLength(1);
      expect(call?.args).toEqual([
        expect.stringMatching(/^test-\d{8}T\d{9}Z$/),
        'test',
        'test of the notifier',
      ]);
      expect(call?.cwd).toBe(world.cwd);
      expect(JSON.parse(call?.stdin ?? '').delivery_id).toMatch(/^test-/);
      expect(existsSync(world.jobs)).toBe(false);
      expect(readdirSync(world.lionagiHome)).toEqual(['settings.yaml']);
    });
  });

  it("sends a run's own fields to its own notifier, and leaves its notice as it is", async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      const run = layNotice(world, 1, 'retrying', notifier.command);
      const before = run.text();
      const data = await askData(world, ['notify', 'test', run.runId]);
      expect(data).toMatchObject({ source: 'record', result: 'delivered' });
      expect(notifier.calls()).toMatchObject([{ args: [run.runId, 'completed', 'the retrying one'] }]);
      const { delivery_id } = JSON.parse(notifier.calls()[0]?.stdin ?? '');
      expect(delivery_id).toMatch(/^test-/);
      expect([run.text(), readdirSync(run.dir)]).toEqual([before, ['job.json']]);
    });
  });

  it('case 46: a notifier that works in a terminal and not from the service fails here as it does there, and the variable is named', async () => {
    await inWorld(async (world) => {
      const notifier = configure(world, NEEDS_BUS);
      Object.assign(world.env, { TEST_SESSION_BUS: 'unix:path=/bus-value', TEST_BOTH: 'shell-value' });
      expect((await askData(world, ['notify', 'test'])).result).toBe('delivered');
      installUnit(world, 'Environment=TEST_BOTH=service-value "TEST_ONLY_THERE=there-value"');
      const data = await askData(world, ['notify', 'test']);
      expect(data).toMatchObject({
        environment: 'service',
        result: 'failed',
        exit_code: 1,
        failure_class: 'connection_failed',
        differs: {
          only_in_shell: expect.arrayContaining(['TEST_SESSION_BUS']),
          only_in_service: expect.arrayContaining(['TEST_ONLY_THERE', 'XDG_RUNTIME_DIR']),
          different: ['PATH', 'TEST_BOTH'],
        },
      });
      const { stdout, exitCode } = await runLion(['notify', 'test'], world);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/\nonly in this shell +.*TEST_SESSION_BUS/);
      expect(stdout).toMatch(/\nanother value there +PATH, TEST_BOTH\n/);
      expect(stdout + JSON.stringify(data)).not.toMatch(/bus-value|shell-value|service-value|there-value/);
      installUnit(world, 'Environment=TEST_SESSION_BUS=unix:path=%t/bus');
      expect((await runLion(['notify', 'test'], world)).exitCode).toBe(0);
      expect(notifier.calls()).toHaveLength(4);
    });
  });

  it('case 46: what a drop-in of the service sets counts, and its notifier may come from there alone', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py', NEEDS_BUS);
      installUnit(world);
      expect(await askData(world, ['notify', 'test'])).toMatchObject({ result: 'nothing', source: 'none' });
      write(
        join(`${unitOf(world)}.d`, 'override.conf'),
        `[Service]\nEnvironment=TEST_SESSION_BUS=x 'LIONAGI_MCP_NOTIFY_COMMAND=["${notifier.file}"]'\n`,
      );
      expect(await askData(world, ['notify', 'test'])).toMatchObject({
        source: 'environment',
        result: 'delivered',
      });
      expect((await runLion(['notify', 'test'], world)).exitCode).toBe(0);
    });
  });

  it('takes the environment of an agent of launchd from its property list', async () => {
    await inWorld(async (world) => {
      configure(world, NEEDS_BUS);
      const file = join(world.home, 'Library/LaunchAgents/io.liond.plist');
      write(
        file,
        `<plist version="1.0"><dict><key>EnvironmentVariables</key>
         <dict><key>TEST_SESSION_BUS</key><string>x</string></dict></dict></plist>`,
      );
      const data = await askData(world, ['notify', 'test']);
      expect(data).toMatchObject({ environment: 'service', result: 'delivered' });
      expect(data.differs.only_in_service).toContain('TEST_SESSION_BUS');
      write(file, 'bplist00');
      expect(await askData(world, ['notify', 'test'])).toMatchObject({
        environment: 'shell',
        environment_in_words: expect.stringContaining(`${file} is not understood`),
        result: 'failed',
      });
    });
  });

  it('takes that of a running supervisor where no service is installed', async () => {
    await inWorld(async (world) => {
      configure(world, NEEDS_BUS);
      const theirs = { ...world.env, TEST_SESSION_BUS: 'x' };
      const supervisor = await holdInstanceLock(world, theirs);
      const data = await askData(world, ['notify', 'test']);
      expect(data).toMatchObject({
        environment: 'supervisor',
        environment_in_words: expect.stringContaining(String(supervisor.pid)),
        result: 'delivered',
        differs: { only_in_shell: [], different: [] },
      });
      expect(data.differs.only_in_service).toContain('TEST_SESSION_BUS');
    });
  });

  it('takes no environment from a process named in a lock that nobody holds', async () => {
    await inWorld(async (world) => {
      configure(world, NEEDS_BUS);
      const supervisor = await holdInstanceLock(world, { ...world.env, TEST_SESSION_BUS: 'x' });
      await supervisor.end();
      write(join(world.lionagiHome, 'mcp/liond/instance.lock'), JSON.stringify({ pid: process.pid }));
      expect(await askData(world, ['notify', 'test'])).toMatchObject({
        environment: 'shell',
        result: 'failed',
        differs: { only_in_shell: [], only_in_service: [], different: [] },
      });
    });
  });

  it('says that it is this shell where there is nothing better, or the definition cannot be read', async () => {
    await inWorld(async (world) => {
      configure(world);
      expect((await runLion(['notify', 'test'], world)).stdout).toMatch(
        /\nenvironment +this shell's: no service is installed and no supervisor runs\n/,
      );
      mkdirSync(unitOf(world), { recursive: true });
      expect((await askData(world, ['notify', 'test'])).environment_in_words).toBe(
        `this shell's: ${unitOf(world)} cannot be read: not a regular file`,
      );
    });
  });

  it('searches the program where the service would', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'test-notifier');
      world.env.LIONAGI_MCP_NOTIFY_COMMAND = '["test-notifier"]';
      world.env.PATH = `${world.bin}:${world.env.PATH}`;
      expect((await askData(world, ['notify', 'test'])).result).toBe('delivered');
      installUnit(world, `Environment='LIONAGI_MCP_NOTIFY_COMMAND=["test-notifier"]'`);
      expect(await askData(world, ['notify', 'test'])).toMatchObject({
        result: 'failed',
        error: 'FileNotFoundError',
      });
      expect(notifier.calls()).toHaveLength(1);
    });
  });

  it('says why a notifier cannot be used, or that none is configured, and exits 1', async () => {
    await inWorld(async (world) => {
      const none = await runLion(['notify', 'test'], world);
      expect([none.exitCode, none.stdout]).toEqual([1, expect.stringContaining('none is configured')]);
      world.env.LIONAGI_MCP_NOTIFY_COMMAND = '["it", "{sender}"]';
      expect(await askData(world, ['notify', 'test'])).toMatchObject({
        result: 'failed',
        program: 'it',
        error: 'delivery_command_needs_a_sender_and_none_was_given',
        exit_code: null,
      });
      expect((await runLion(['notify', 'test'], world)).exitCode).toBe(1);
      expect((await ask(world, ['notify', 'test', runIdOf(9)])).error?.kind).toBe('not_found');
    });
  });
});
