import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOurs } from '../../cli/service/mark.ts';
import { renderPlist } from '../../cli/service/plist.ts';
import { lingerIsOursIn, renderUnit } from '../../cli/service/unit.ts';
import { environmentOfPlist } from '../../shared/notify/environment/plist.ts';
import { environmentOfUnit } from '../../shared/notify/environment/unit.ts';
import { inWorld } from '../support/in-world.ts';
import { PYTHON } from '../support/python.ts';

const templateOf = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const UNIT = templateOf('systemd/liond.service');
const PLIST = templateOf('launchd/io.liond.plist');
const VALUES = {
  node: '/usr/bin/node',
  script: '/usr/lib/node_modules/liond/dist/daemon/main.js',
  env: {
    HOME: '/home/u',
    PATH: '/home/u/.local/bin:/usr/bin:/bin',
    LIONAGI_HOME: '/data/my agents/100% "sure" $5',
  },
};
const OLD = { systemd: 252, lingerIsOurs: false };
/** Any text a path may hold, but for what `install` refuses. */
const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 40 })
  .filter((each) => !/[\p{Cc}\p{Cs}\ufffd]/u.test(each));

function hasSystemdAnalyze(): boolean {
  return spawnSync('systemd-analyze', ['--version']).status === 0;
}

describe('the unit', () => {
  it('has plain paths as they are, and the rest quoted', () => {
    const lines = renderUnit(UNIT, VALUES, OLD).split('\n');
    expect(lines).toContain('ExecStart=/usr/bin/node /usr/lib/node_modules/liond/dist/daemon/main.js');
    expect(lines).toContain('Environment=HOME=/home/u');
    expect(lines).toContain('Environment="LIONAGI_HOME=/data/my agents/100%% \\"sure\\" $5"');
    expect(lines.join('\n')).not.toMatch(/@[A-Z]+@|In the package/);
  });

  it('gives back every variable to a reader of units', () => {
    fc.assert(
      fc.property(text, text, (home, path) => {
        const unit = renderUnit(UNIT, { ...VALUES, env: { HOME: home, PATH: path } }, OLD);
        expect(environmentOfUnit([unit], {})).toEqual({ HOME: home, PATH: path });
      }),
    );
  });

  it('has growing pauses where systemd knows them, and not the settings that an older one complains of', () => {
    const at = (systemd: number): string => renderUnit(UNIT, VALUES, { systemd, lingerIsOurs: false });
    expect(at(254)).toMatch(/^RestartSteps=8\nRestartMaxDelaySec=60$/m);
    expect(at(253)).not.toMatch(/RestartSteps|RestartMaxDelaySec|grows in eight/);
    expect(at(0)).toMatch(/^RestartSec=5$/m);
  });

  it('is known as ours, and remembers who enabled lingering', () => {
    const [plain, lingering] = [false, true].map((lingerIsOurs) =>
      renderUnit(UNIT, VALUES, { systemd: 252, lingerIsOurs }),
    );
    expect(plain?.split('\n')[0]).toMatch(/^# Made by lion daemon install/);
    expect([plain, lingering].map((unit) => isOurs(unit ?? ''))).toEqual([true, true]);
    expect([plain, lingering].map((unit) => lingerIsOursIn(unit ?? null))).toEqual([false, true]);
    expect(isOurs('[Service]\nExecStart=/usr/bin/node x\n# Made by\n# Made by lion daemon install')).toBe(
      false,
    );
  });

  it('each setting that is not plain has its reason above it', () => {
    const lines = UNIT.split('\n');
    const bare = lines.filter((line, at) => {
      const isSetting = /^[A-Z]\w+=/.test(line) && !/^(Description|WantedBy)=/.test(line);
      return isSetting && !/^#|^RestartSteps=/.test(lines[at - 1] ?? '');
    });
    expect(bare).toEqual([]);
  });

  it.skipIf(!hasSystemdAnalyze())(
    'systemd-analyze verify has nothing to say of it (needs systemd)',
    async () => {
      await inWorld(async (world) => {
        const version = Number(
          /^systemd (\d+)/.exec(execFileSync('systemd-analyze', ['--version'], { encoding: 'utf8' }))?.[1],
        );
        const runtime = join(world.root, 'run');
        mkdirSync(runtime, { mode: 0o700 });
        const verify = (unit: string): string => {
          const file = join(world.work, 'liond.service');
          writeFileSync(file, unit);
          const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--user', file], {
            env: { ...world.env, XDG_RUNTIME_DIR: runtime },
            encoding: 'utf8',
          });
          return `${status} ${stdout}${stderr}`;
        };
        const values = { ...VALUES, node: process.execPath };
        const unit = renderUnit(UNIT, values, { systemd: version, lingerIsOurs: true });
        expect(verify(unit)).toBe('0 ');
        expect(verify(unit.replace('[Service]', '[Service]\nNoSuchKey=1'))).toMatch(/NoSuchKey/);
      });
    },
  );
});

describe('the property list', () => {
  const asPython = (plist: string): Record<string, unknown> =>
    JSON.parse(
      execFileSync(
        PYTHON,
        ['-c', 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'],
        {
          input: plist,
          encoding: 'utf8',
        },
      ),
    );

  it("is what Python's plistlib reads, with every value as it was", () => {
    expect(asPython(renderPlist(PLIST, VALUES))).toEqual({
      Label: 'io.liond',
      ProgramArguments: [VALUES.node, VALUES.script],
      EnvironmentVariables: VALUES.env,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      ThrottleInterval: 60,
      AbandonProcessGroup: true,
      ExitTimeOut: 45,
    });
    const odd = { node: '/a & b/<node>', script: '/é "q" \'p\'/--x', env: { PATH: '</string>&amp;]]>' } };
    expect(asPython(renderPlist(PLIST, odd))).toMatchObject({
      ProgramArguments: [odd.node, odd.script],
      EnvironmentVariables: odd.env,
    });
  });

  it('gives back every variable to our own reader, which lion notify test goes by', () => {
    fc.assert(
      fc.property(text, text, (home, path) => {
        const plist = renderPlist(PLIST, { ...VALUES, env: { HOME: home, PATH: path } });
        expect(environmentOfPlist(plist)).toEqual({ HOME: home, PATH: path });
      }),
    );
  });

  it('keeps the rules that no parser holds it to', () => {
    const plist = renderPlist(PLIST, VALUES);
    expect(plist).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<!-- Made by lion daemon install/);
    expect(isOurs(plist)).toBe(true);
    expect(plist).not.toMatch(/@[A-Z]+@|In the package/);
    const { ProgramArguments } = asPython(plist) as { ProgramArguments: string[] };
    expect(ProgramArguments.every((path) => path.startsWith('/'))).toBe(true);
    for (const comment of plist.match(/<!--[\s\S]*?-->/g) ?? [])
      expect(comment.slice(4, -3)).not.toContain('--');
    const keys = [...plist.matchAll(/^ {2}<key>(\w+)<\/key>/gm)].map(([, key]) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});
