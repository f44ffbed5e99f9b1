/** A stand-in for `systemctl`, to have each of its commands fail or hang; what a real one does is in user-manager.test.ts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { LION_MAIN, type LionCall } from '../support/lion.ts';
import { ask } from '../support/machine.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

interface Systemctl {
  readonly call: { readonly env: LionCall['env'] };
  readonly unit: string;
  changes(): string[];
}

/** @param fault shell code that is run for each change, `$verb` being its name */
function standIn(world: World, fault: string, state = 'inactive'): Systemctl {
  const [file, log] = [join(world.bin, 'systemctl'), join(world.root, 'changes')];
  const unit = join(world.home, '.config/systemd/user/liond.service');
  writeFileSync(
    file,
    `#!/bin/sh
verb=$3
case "$*" in
  *Version*) echo Version=255; exit 0;;
  *show*)
    test -e ${unit} && echo LoadState=loaded || echo LoadState=not-found
    echo ActiveState=${state}; echo UnitFileState=; echo FragmentPath=${unit}; echo NeedDaemonReload=no; echo MainPID=0
    exit 0;;
esac
echo "$verb" >> ${log}
${fault}
`,
  );
  chmodSync(file, 0o755);
  return {
    call: { env: { ...world.env, PATH: `${world.bin}:/usr/bin:/bin` } },
    unit,
    changes: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
  };
}

const failing = (verb: string): string => `test "$verb" != ${verb} || { echo 'no such luck' >&2; exit 4; }`;

describe('an install that fails half way', () => {
  it.each<[string, string[]]>([
    ['enable', ['daemon-reload', 'enable', 'disable', 'daemon-reload']],
    ['start', ['daemon-reload', 'enable', 'start', 'stop', 'disable', 'daemon-reload']],
  ])('%s: what was done is undone, in the other order', async (verb, changes) => {
    await inWorld(async (world) => {
      const systemctl = standIn(world, failing(verb));
      const { error } = await ask(world, ['daemon', 'install'], systemctl.call);
      expect(error?.kind).toBe('unavailable');
      expect(error?.message).toBe(
        `systemctl --user --no-ask-password ${verb} liond.service failed (exit status 4): no such luck; what had been done was undone`,
      );
      expect(systemctl.changes()).toEqual(changes);
      expect(readdirSync(dirname(systemctl.unit))).toEqual([]);
    });
  });

  it('daemon-reload, which undoing needs too: the file is gone, and what could not be undone is said', async () => {
    await inWorld(async (world) => {
      const systemctl = standIn(world, failing('daemon-reload'));
      const { error } = await ask(world, ['daemon', 'install'], systemctl.call);
      expect(error?.message).toMatch(
        /daemon-reload failed .*and this could not be undone: .*daemon-reload failed/,
      );
      expect(readdirSync(dirname(systemctl.unit))).toEqual([]);
    });
  });

  it('over an older one: that one is back, and runs', async () => {
    await inWorld(async (world) => {
      const systemctl = standIn(world, `${failing('enable')}`, 'active');
      const old = '# Made by lion daemon install\n[Service]\nExecStart=/usr/bin/node /old.js\n';
      mkdirSync(dirname(systemctl.unit), { recursive: true });
      writeFileSync(systemctl.unit, old);
      expect((await ask(world, ['daemon', 'install'], systemctl.call)).ok).toBe(false);
      expect(readFileSync(systemctl.unit, 'utf8')).toBe(old);
      expect(systemctl.changes()).toEqual(['daemon-reload', 'enable', 'disable', 'daemon-reload', 'restart']);
    });
  });

  it('by Ctrl-C: the same', async () => {
    await inWorld(async (world) => {
      const systemctl = standIn(world, 'test "$verb" != start || exec sleep 300');
      const lion = spawn(process.execPath, [LION_MAIN, 'daemon', 'install'], {
        env: systemctl.call.env,
        cwd: world.cwd,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      lion.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      const ended = once(lion, 'close');
      await waitUntil('the start', () => systemctl.changes().includes('start'));
      lion.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
      expect(said).toMatch(/start liond\.service was interrupted; what had been done was undone/);
      expect(readdirSync(dirname(systemctl.unit))).toEqual([]);
    });
  });

  it('only when it is looked at afterwards: it is said that all was done', async () => {
    await inWorld(async (world) => {
      const breaks = `test "$verb" != start || printf '#!/bin/sh\\necho broken >&2; exit 1\\n' > "$0"`;
      const systemctl = standIn(world, breaks);
      const { error } = await ask(world, ['daemon', 'install'], systemctl.call);
      expect(error?.message).toMatch(
        /^all was done \(installed\), and how the service is now cannot be told: .*broken/,
      );
      expect(existsSync(systemctl.unit)).toBe(true);
    });
  });

  it('where a directory of its path is a file, nothing is left, and nothing else is claimed', async () => {
    await inWorld(async (world) => {
      const systemctl = standIn(world, '');
      writeFileSync(join(world.home, '.config'), '');
      const { error } = await ask(world, ['daemon', 'install'], systemctl.call);
      expect(error?.message).toMatch(/ENOTDIR/);
      expect(error?.message).not.toMatch(/could not be undone/);
    });
  });

  it('where the file cannot be written, nothing else is done', async () => {
    await inWorld(async (world) => {
      const systemctl = standIn(world, '');
      writeFileSync(join(world.home, '.config'), '');
      const { error } = await ask(world, ['daemon', 'install'], systemctl.call);
      expect(error?.message).toMatch(/^a file cannot be changed: .*(ENOTDIR|EEXIST)/);
      expect(systemctl.changes().filter((verb) => verb !== 'daemon-reload')).toEqual([]);
      expect(readdirSync(world.home).sort()).toEqual(['.config', '.lionagi']);
    });
  });
});
