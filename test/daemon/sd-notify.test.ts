import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openServiceManager, withoutManager } from '../../daemon/sd-notify.ts';
import { inWorld } from '../support/in-world.ts';
import { PYTHON } from '../support/python.ts';
import { layEnded, layGone, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

interface Manager {
  readonly address: string;
  heard(): string[];
}

/** A service manager's side: a real datagram socket that notes each message and the pid it came from. */
async function startManager(world: World, address = join(world.root, 'notify')): Promise<Manager> {
  const program = `
import socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
s.bind(sys.argv[1].replace("@", "\\0", 1))
print("bound", flush=True)
while True:
    data, extra, _, _ = s.recvmsg(4096, 256)
    pid = struct.unpack("iii", extra[0][2])[0]
    print(repr((pid, data.decode()))[1:-1], flush=True)`;
  const child: ChildProcess = spawn(PYTHON, ['-c', program, address], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const gone = once(child, 'close');
  world.onDispose(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  await waitUntil('the manager to listen', () => text.includes('bound'));
  return { address, heard: () => text.trimEnd().split('\n').slice(1) };
}

const abstractName = (world: World): string => `@liond-test${world.root.replaceAll('/', '-')}`;

describe('what a service manager is told', () => {
  it.each<[string, (world: World) => string]>([
    ['a path', (world) => join(world.root, 'notify')],
    ['an abstract name', abstractName],
  ])('reaches a socket at %s, from this very process', async (_what, addressOf) => {
    await inWorld(async (world) => {
      const manager = await startManager(world, addressOf(world));
      const told = await openServiceManager({ NOTIFY_SOCKET: manager.address }, process.pid);
      told.ready();
      told.status('two\nlines');
      told.watchdog();
      told.stopping();
      const said = ['READY=1', 'STATUS=two lines', 'WATCHDOG=1', 'STOPPING=1'];
      await waitUntil('four messages', () => manager.heard().length === 4);
      expect(manager.heard()).toEqual(said.map((text) => `${process.pid}, '${text}'`));
    });
  });

  it.each<[string, (world: World) => string]>([
    ['nobody at the path', (world) => join(world.root, 'nobody')],
    ['nobody at the abstract name', abstractName],
    ['a path too long for a socket', () => `/${'x'.repeat(300)}`],
    ['another sort of address', () => 'vsock:2:1234'],
  ])('is let go where it cannot be sent: %s', async (_what, addressOf) => {
    await inWorld(async (world) => {
      const told = await openServiceManager({ NOTIFY_SOCKET: addressOf(world) }, process.pid);
      expect(() => {
        told.ready();
        told.status('x');
        told.stopping();
      }).not.toThrow();
    });
  });

  it('a manager that went away in between, or does not read, holds nobody up', async () => {
    await inWorld(async (world) => {
      const manager = await startManager(world);
      const told = await openServiceManager({ NOTIFY_SOCKET: manager.address }, process.pid);
      rmSync(manager.address);
      const began = performance.now();
      for (let n = 0; n < 2_000; n++) told.status('x'.repeat(400));
      expect(performance.now() - began).toBeLessThan(10_000);
    });
  });

  it.each<[string, Record<string, string>, number | null]>([
    ['half of what it allows', { WATCHDOG_USEC: '30000000' }, 15_000],
    ['our own pid', { WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 15_000],
    ['another pid', { WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, null],
    ['no watchdog', {}, null],
    ['no number', { WATCHDOG_USEC: 'often' }, null],
    ['nought', { WATCHDOG_USEC: '0' }, null],
  ])('the watchdog: %s', async (_what, env, intervalMs) => {
    const manager = await openServiceManager({ NOTIFY_SOCKET: '/nowhere', ...env }, 7);
    expect(manager.watchdogIntervalMs).toBe(intervalMs);
  });

  it('without a manager nobody waits for the watchdog', async () => {
    expect((await openServiceManager({ WATCHDOG_USEC: '30000000' }, 7)).watchdogIntervalMs).toBeNull();
  });

  it('the address is not handed on to children', () => {
    const env = { NOTIFY_SOCKET: '/s', WATCHDOG_USEC: '1', WATCHDOG_PID: '2', PATH: '/bin' };
    expect(withoutManager(env)).toEqual({ PATH: '/bin' });
  });
});

describe('a supervisor under a service manager', () => {
  it('says that it is up once the store was gone over, beats, and says that it stops', async () => {
    await inWorld(async (world) => {
      const manager = await startManager(world);
      Object.assign(world.env, { NOTIFY_SOCKET: manager.address, WATCHDOG_USEC: '1000000' });
      const seen = join(world.root, 'seen');
      const notifier = makeNotifier(
        world,
        'notifier',
        `open(${JSON.stringify(seen)}, "w").write(repr(os.environ.get("NOTIFY_SOCKET")))`,
      );
      await layGone(world, runIdOf(1), { notify_command: notifier.command });
      const supervisor = await startSupervisor(world);
      const from = (text: string): string => `${supervisor.pid}, '${text}'`;
      const beats = (): string[] => manager.heard().filter((line) => line === from('WATCHDOG=1'));
      await waitUntil('three beats', () => beats().length >= 3);
      expect(manager.heard().slice(0, 2)).toEqual([
        from('READY=1'),
        from(`STATUS=looking after ${world.jobs}`),
      ]);
      expect(manager.heard()).not.toContain(from('STOPPING=1'));
      await waitUntil('the notice', () => existsSync(seen) && readFileSync(seen, 'utf8') !== '');
      expect(readFileSync(seen, 'utf8')).toBe('None');
      expect((await supervisor.end('SIGTERM')).exitCode).toBe(0);
      await waitUntil('the last word', () => manager.heard().includes(from('STOPPING=1')));
    });
  });

  it('starts and stops as ever where the manager cannot be reached', async () => {
    await inWorld(async (world) => {
      world.env.NOTIFY_SOCKET = join(world.root, 'nobody');
      const supervisor = await startSupervisor(world);
      expect((await supervisor.end('SIGTERM')).exitCode).toBe(0);
      expect(supervisor.complained()).toBe('');
    });
  });
});

it('case 61: pings go on at half the limit while a whole store is read for the first time', async () => {
  await inWorld(async (world) => {
    for (let n = 0; n < 3_000; n++) layEnded(world, runIdOf(n), 'completed');
    const manager = await startManager(world);
    Object.assign(world.env, { NOTIFY_SOCKET: manager.address, WATCHDOG_USEC: '400000' });
    await startSupervisor(world);
    const pings = (): number => manager.heard().filter((line) => line.includes('WATCHDOG=1')).length;
    const began = pings();
    await waitUntil('pings', () => pings() >= began + 3);
    expect(readFileSync(new URL('../../systemd/liond.service', import.meta.url), 'utf8')).not.toMatch(
      /^WatchdogSec/m,
    );
  });
});
