import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { busFault } from '../../cli/service/systemd-state.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask } from '../support/machine.ts';
import { asUser, inMounts, whyNoNamespaces } from '../support/namespaces.ts';
import { startUserManager, whyNoUserManager } from '../support/user-manager.ts';
import type { World } from '../support/world.ts';

const VERBS = [
  ['install'],
  ['install', '--linger'],
  ['install', '--dry-run'],
  ['uninstall'],
  ['start'],
  ['stop'],
  ['restart'],
];
const UNIT = '.config/systemd/user/liond.service';

/** Programs of the system, without those of a service manager. */
function plainPath(world: World): string {
  const dir = join(world.root, 'plain');
  mkdirSync(dir);
  for (const name of ['sh', 'sleep']) symlinkSync(`/bin/${name}`, join(dir, name));
  return dir;
}

describe('case 6: where no service can be', () => {
  it.each(VERBS)(
    'without a service manager at all, %s %s says what to do and leaves nothing',
    async (...args) => {
      await inWorld(async (world) => {
        const env = { ...world.env, PATH: plainPath(world) };
        const { error } = await ask(world, ['daemon', ...args.filter(Boolean)], { env });
        expect(error?.kind).toBe('unavailable');
        expect(error?.message).toMatch(/neither systemctl nor launchctl.*lion daemon run/);
        expect(readdirSync(world.home)).toEqual(['.lionagi']);
      });
    },
  );

  it.skipIf(whyNoNamespaces() !== null || whyNoUserManager() !== null)(
    'without a user bus (su, sudo -u, a container), every verb says so, and leaves nothing (needs root and systemd)',
    async () => {
      await inWorld(async (world) => {
        const through = inMounts('mount -t tmpfs none /run');
        for (const args of VERBS) {
          const { error } = await ask(world, ['daemon', ...args], { through });
          expect(error?.kind).toBe('unavailable');
          expect(error?.message).toMatch(
            /no service manager runs for user root: \/run\/user\/0 is not there.*enable-linger root.*Nothing was changed$/,
          );
        }
        const said = await runLion(['daemon', 'install'], { ...world, through });
        expect(said).toMatchObject({ exitCode: 1, stdout: '' });
        expect(said.stderr).toMatch(/^lion: no service manager runs/);
        expect(readdirSync(world.home)).toEqual(['.lionagi']);
      });
    },
  );

  it('tells a machine without logind from a user without a session and from a manager that hangs', () => {
    const facts = { user: 'u', runtimeDir: '/run/user/7', hasRuntimeDir: true, hasLoginctl: true, said: 'x' };
    expect(busFault({ ...facts, hasLoginctl: false })).toMatch(/there is no loginctl.*\(x\)/);
    expect(busFault({ ...facts, hasRuntimeDir: false })).toMatch(/\/run\/user\/7 is not there/);
    expect(busFault({ ...facts, said: '' })).toMatch(/^the service manager of user u does not answer;/);
  });

  it.skipIf(whyNoUserManager() !== null)('sudo that keeps HOME is refused (needs root)', async () => {
    await inWorld(async (world) => {
      chownSync(world.home, 12_345, 12_345);
      const { error } = await ask(world, ['daemon', 'install']);
      expect(error?.message).toMatch(/belongs to user 12345 while this runs as user 0; run it as that user/);
    });
  });

  it.skipIf(whyNoUserManager() !== null)('another user is named in the answer (needs root)', async () => {
    await inWorld(async (world) => {
      chownSync(world.home, 12_345, 12_345);
      const through = asUser(12_345);
      const { error } = await ask(world, ['daemon', 'install'], {
        through,
        env: { ...world.env, USER: 'bob' },
      });
      expect(error?.message).toMatch(/no service manager runs for user bob: \/run\/user\/12345 is not there/);
    });
  });

  it('a manager that does not answer is given up after its time, by name (a stand-in for systemctl)', async () => {
    await inWorld(async (world) => {
      const file = join(world.bin, 'systemctl');
      writeFileSync(file, '#!/bin/sh\nexec sleep 300\n');
      chmodSync(file, 0o755);
      const env = { ...world.env, PATH: `${world.bin}:/usr/bin:/bin` };
      const { error } = await ask(world, ['daemon', 'stop'], { env });
      expect(error?.message).toMatch(/systemctl --user .* did not answer within 10 s/);
    });
  });
});

describe.skipIf(whyNoUserManager() !== null)('what is not ours (needs root and systemd)', () => {
  it('is left alone: a unit of somebody else, a link, and our own changes beside it', async () => {
    await inWorld(async (world) => {
      const manager = await startUserManager(world);
      const unit = join(world.home, UNIT);
      mkdirSync(dirname(unit), { recursive: true });
      writeFileSync(unit, '[Service]\nExecStart=/bin/true\n');
      for (const verb of ['install', 'uninstall']) {
        const { error } = await ask(world, ['daemon', verb], manager.call);
        expect(error?.kind).toBe('conflict');
        expect(error?.message).toMatch(/was not written by lion daemon install.*move it away/);
      }
      expect(readFileSync(unit, 'utf8')).toBe('[Service]\nExecStart=/bin/true\n');
      rmSync(unit);
      // As systemctl mask does.
      symlinkSync('/dev/null', unit);
      expect((await ask(world, ['daemon', 'install'], manager.call)).error?.kind).toBe('conflict');
      expect(readlinkSync(unit)).toBe('/dev/null');
      rmSync(unit);
      mkdirSync(`${unit}.d`);
      writeFileSync(join(`${unit}.d`, 'mine.conf'), '[Service]\nEnvironment=MINE=1\n');
      const { data } = await ask(world, ['daemon', 'install'], manager.call);
      expect(manager.run('cat', `/proc/${data.pid}/environ`)).toContain('MINE=1');
      expect((await ask(world, ['daemon', 'uninstall'], manager.call)).data.notes.join()).toMatch(
        /your own changes in .*stay/,
      );
      expect(readdirSync(`${unit}.d`)).toEqual(['mine.conf']);
    });
  });

  it('lingering: said, enabled only when asked for, and disabled only if install enabled it (a stand-in for loginctl)', async () => {
    await inWorld(async (world) => {
      const manager = await startUserManager(world);
      const file = join(world.bin, 'loginctl');
      writeFileSync(
        file,
        `#!/bin/sh
mkdir -p /var/lib/systemd/linger
test -e ${world.root}/refuse && { echo 'Access denied' >&2; exit 1; }
case "$2" in
  enable-linger) : > /var/lib/systemd/linger/"$3";;
  disable-linger) rm /var/lib/systemd/linger/"$3";;
esac
`,
      );
      chmodSync(file, 0o755);
      const call = { ...manager.call, env: { ...world.env, PATH: `${world.bin}:/usr/bin:/bin` } };
      const daemon = async (...args: readonly string[]) => (await ask(world, ['daemon', ...args], call)).data;
      const plain = await daemon('install');
      expect(plain).toMatchObject({ linger: false, result: 'installed' });
      expect(plain.notes.join()).toMatch(/lingering is off for root: .*--linger/);
      expect(await daemon('install', '--linger')).toMatchObject({ linger: true, result: 'healed' });
      expect(await daemon('install', '--linger')).toMatchObject({ linger: true, result: 'unchanged' });
      expect(await daemon('install')).toMatchObject({ result: 'unchanged' });
      expect(await daemon('uninstall')).toMatchObject({ linger: false });

      manager.run('sh', '-c', ': > /var/lib/systemd/linger/root');
      expect(await daemon('install', '--linger')).toMatchObject({ linger: true, result: 'installed' });
      expect(await daemon('uninstall')).toMatchObject({ linger: true, result: 'uninstalled' });

      manager.run('rm', '/var/lib/systemd/linger/root');
      writeFileSync(join(world.root, 'refuse'), '');
      const { error } = await ask(world, ['daemon', 'install', '--linger'], call);
      expect(error?.message).toMatch(
        /enable-linger root failed \(exit status 1\): Access denied; what had been done was undone/,
      );
      expect(existsSync(join(world.home, UNIT))).toBe(false);
      expect(manager.shows('LoadState')).toBe('not-found');
      expect(manager.shows('ActiveState')).toBe('inactive');
    });
  });
});
