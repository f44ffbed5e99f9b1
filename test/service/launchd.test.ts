/**
 * There is no launchd here. A stand-in for `launchctl` answers as the real one is documented and reported to;
 * these tests hold only what `lion` makes of its answers.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDisabledIn, pidIn } from '../../cli/service/launchd-state.ts';
import { inWorld } from '../support/in-world.ts';
import type { LionCall } from '../support/lion.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import type { World } from '../support/world.ts';

const PLIST = 'Library/LaunchAgents/io.liond.plist';
const UID = process.getuid?.() ?? 0;
const SERVICE = `gui/${UID}/io.liond`;

interface Launchctl {
  readonly call: Partial<LionCall>;
  readonly plist: string;
  /** What it was asked for, but for questions. */
  changes(): string[];
  /** The next so many calls of bootstrap end with this status. */
  failing(times: number, exitCode: number): void;
  isLoaded(): boolean;
  set(file: string, text: string): void;
}

function standIn(world: World): Launchctl {
  const state = join(world.root, 'launchd');
  mkdirSync(state);
  const at = (name: string): string => join(state, name);
  const file = join(world.bin, 'launchctl');
  writeFileSync(
    file,
    `#!/bin/sh
cd ${state}
case "$1" in print*) ;; *) echo "$*" >> changes;; esac
case "$1 $2" in
  "print gui/${UID}") test ! -e no-gui || { echo 'Domain does not support specified action' >&2; exit 125; };;
  "print user/${UID}") test ! -e no-user || { echo 'Could not find domain' >&2; exit 113; };;
  "print "*/io.liond) test -e loaded || { echo 'Could not find service' >&2; exit 113; }
    echo "io.liond = {"; test -e no-pid || echo "	pid = 4711"; echo "}";;
  print-disabled*) test ! -e disabled || echo '	"io.liond" => disabled';;
  bootout*) test -e loaded || { echo 'Boot-out failed: 3: No such process' >&2; exit 3; }; rm loaded;;
  enable*) rm disabled;;
  bootstrap*)
    n=$(cat fail 2>/dev/null || echo 0)
    if test "$n" -gt 0; then
      echo $((n - 1)) > fail; echo "Bootstrap failed: $(cat code): Input/output error" >&2; exit $(cat code)
    fi
    test -e "$3" || { echo 'no file' >&2; exit 2; }
    : > loaded;;
  *) exit 64;;
esac
`,
  );
  chmodSync(file, 0o755);
  return {
    call: { env: { ...world.env, PATH: `${world.bin}:/usr/bin:/bin` } },
    plist: join(world.home, PLIST),
    changes: () =>
      existsSync(at('changes')) ? readFileSync(at('changes'), 'utf8').trimEnd().split('\n') : [],
    failing: (times, exitCode) => {
      writeFileSync(at('fail'), String(times));
      writeFileSync(at('code'), String(exitCode));
    },
    isLoaded: () => existsSync(at('loaded')),
    set: (name, text) => writeFileSync(at(name), text),
  };
}

describe('services of launchd (a stand-in for launchctl)', () => {
  it('install, again, stop, start, restart, uninstall: each does what it has to and no more', async () => {
    await inWorld(async (world) => {
      const launchctl = standIn(world);
      const daemon = (...args: readonly string[]) => askData(world, ['daemon', ...args], launchctl.call);
      const bootstrap = `bootstrap gui/${UID} ${launchctl.plist}`;
      expect((await ask(world, ['daemon', 'start'], launchctl.call)).error?.kind).toBe('not_found');
      const dry = await daemon('install', '--dry-run');
      expect([existsSync(launchctl.plist), launchctl.changes()]).toEqual([false, []]);
      expect(await daemon('install')).toMatchObject({
        manager: 'launchd',
        result: 'installed',
        state: 'active',
        pid: 4711,
        linger: null,
        steps: dry.steps,
      });
      expect(readFileSync(launchctl.plist, 'utf8')).toBe(dry.steps[0].content);
      expect(await daemon('install')).toMatchObject({ result: 'unchanged', steps: [] });
      expect(launchctl.changes()).toEqual([bootstrap]);
      expect(await daemon('stop')).toMatchObject({ result: 'stopped', state: 'not loaded', pid: null });
      expect(await daemon('stop')).toMatchObject({ result: 'unchanged' });
      expect(await daemon('start')).toMatchObject({ result: 'started', pid: 4711 });
      expect(await daemon('restart')).toMatchObject({ result: 'restarted', pid: 4711 });
      expect(launchctl.changes().slice(1)).toEqual([
        `bootout ${SERVICE}`,
        bootstrap,
        `bootout ${SERVICE}`,
        bootstrap,
      ]);
      expect(await daemon('uninstall')).toMatchObject({ result: 'uninstalled', state: 'not loaded' });
      expect([existsSync(launchctl.plist), launchctl.isLoaded()]).toEqual([false, false]);
      expect(await daemon('uninstall')).toMatchObject({ result: 'unchanged' });
    });
  });

  it('case 42: a bootstrap that fails with 5 right after the bootout is tried again, and a process is looked for', async () => {
    await inWorld(async (world) => {
      const launchctl = standIn(world);
      await askData(world, ['daemon', 'install'], launchctl.call);
      for (const verb of ['restart', 'install']) {
        if (verb === 'install')
          writeFileSync(launchctl.plist, `${readFileSync(launchctl.plist, 'utf8')}<!-- stale -->\n`);
        launchctl.failing(2, 5);
        expect(await askData(world, ['daemon', verb], launchctl.call)).toMatchObject({
          state: 'active',
          pid: 4711,
        });
      }
      expect(readFileSync(launchctl.plist, 'utf8')).not.toContain('stale');
    });
  });

  it('case 42: one that always fails is said, with the command to do it by hand; another status is not tried again', async () => {
    await inWorld(async (world) => {
      const launchctl = standIn(world);
      await askData(world, ['daemon', 'install'], launchctl.call);
      launchctl.failing(99, 5);
      const said = await runLion(['daemon', 'restart'], { ...world, ...launchctl.call });
      expect(said.exitCode).toBe(1);
      expect(said.stderr).toContain('failed (exit status 5): Bootstrap failed: 5: Input/output error');
      expect(said.stderr).toContain(
        `the service is not loaded now; by hand: launchctl bootstrap gui/${UID} ${launchctl.plist}`,
      );
      launchctl.failing(99, 125);
      const before = launchctl.changes().length;
      const { error } = await ask(world, ['daemon', 'start'], launchctl.call);
      expect(error?.message).toMatch(/exit status 125/);
      expect(launchctl.changes().length - before).toBe(1);
    });
  });

  it('a failed install leaves nothing, a failed healing what was there', async () => {
    await inWorld(async (world) => {
      const launchctl = standIn(world);
      launchctl.failing(1, 125);
      const { error } = await ask(world, ['daemon', 'install'], launchctl.call);
      expect(error?.message).toMatch(/what had been done was undone/);
      expect(existsSync(launchctl.plist)).toBe(false);
      launchctl.set('no-pid', '');
      expect((await ask(world, ['daemon', 'install'], launchctl.call)).error?.message).toMatch(
        /has a process: not so/,
      );
      expect([existsSync(launchctl.plist), launchctl.isLoaded()]).toEqual([false, false]);
    });
  });

  it('over ssh the domain of the user is taken; without any, the answer says so; a disabled one is enabled', async () => {
    await inWorld(async (world) => {
      const launchctl = standIn(world);
      launchctl.set('no-gui', '');
      launchctl.set('disabled', '');
      await askData(world, ['daemon', 'install'], launchctl.call);
      expect(launchctl.changes()).toEqual([
        `enable user/${UID}/io.liond`,
        `bootstrap user/${UID} ${launchctl.plist}`,
      ]);
      launchctl.set('no-user', '');
      const { error } = await ask(world, ['daemon', 'stop'], launchctl.call);
      expect(error?.message).toMatch(
        /launchd does not answer for user .*exit status 125.*exit status 113.*Nothing was changed/,
      );
    });
  });

  it('a property list of somebody else is left alone', async () => {
    await inWorld(async (world) => {
      const launchctl = standIn(world);
      mkdirSync(dirname(launchctl.plist), { recursive: true });
      writeFileSync(launchctl.plist, '<plist/>');
      for (const verb of ['install', 'uninstall', 'stop'])
        expect((await ask(world, ['daemon', verb], launchctl.call)).error?.kind).toBe('conflict');
      expect(readFileSync(launchctl.plist, 'utf8')).toBe('<plist/>');
    });
  });

  it('reads what launchctl prints', () => {
    expect(pidIn('gui/501/io.liond = {\n\tstate = running\n\tpid = 812\n\tlast exit code = 0\n}')).toBe(812);
    expect(pidIn('gui/501/io.liond = {\n\tstate = not running\n}')).toBeNull();
    expect(
      ['disabled', 'true', 'enabled', 'false'].map((word) =>
        isDisabledIn(`{\n\t"io.liond" => ${word}\n}`, 'io.liond'),
      ),
    ).toEqual([true, true, false, false]);
    expect(isDisabledIn('\t"io.liond.other" => disabled', 'io.liond')).toBe(false);
  });
});
