import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import type { Envelope, LionCall } from '../support/lion.ts';
import { runLion } from '../support/lion.ts';
import { ask, envelopeOf } from '../support/machine.ts';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { inShell } from '../support/shell.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import type { World } from '../support/world.ts';

/** What is asked for, laid out in a world; and, where it is not the usual one, the call's own environment. */
interface Asked {
  readonly words: readonly string[];
  readonly env?: Record<string, string>;
}

type Row = readonly [what: string, said: RegExp, asked: (world: World) => Asked];

const command = (options: readonly string[], ...argv: readonly string[]): Asked => ({
  words: ['job', 'submit', ...options, '--', ...argv],
});
const agent = (options: readonly string[], env: Record<string, string> = {}): Asked => ({
  words: ['agent', '--detach', ...options],
  env: { LIONAGI_MCP_LI_BIN: '/bin/true', ...env },
});

function laid(world: World, name: string, text: string | Buffer, mode = 0o644): string {
  const file = join(world.work, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const notify = (command: unknown): readonly string[] => ['--notify-command', JSON.stringify(command)];

const TABLE: readonly Row[] = [
  ['no command', /command/, () => command([])],
  ['an empty command', /empty/, () => command([], '')],
  ['an unknown option', /unknown option/, () => command(['--no-such-option'], 'true')],
  ['an option without its value', /--label/, () => ({ words: ['job', 'submit', '--label'] })],

  ['a working directory that is missing', /--cwd/, (w) => command(['--cwd', `${w.work}/gone`], 'true')],
  ['a working directory that is a file', /--cwd/, (w) => command(['--cwd', laid(w, 'file', '')], 'true')],
  ['an empty working directory', /--cwd/, () => command(['--cwd', ''], 'true')],
  ['a working directory of li that is missing', /--cwd/, (w) => agent(['--cwd', `${w.work}/gone`])],

  ['a program that is missing', /\/nonexistent\/program/, () => command([], '/nonexistent/program')],
  ['a program that is not on the PATH', /PATH/, () => command([], 'no-such-program-anywhere')],
  ['a program that is not executable', /not an exec/, (w) => command([], laid(w, 'plain', '#!/bin/sh\n'))],
  ['a program that is a directory', /not an exec/, (w) => command([], w.work)],
  [
    'a program that is there for the caller and not for the run',
    /\.\/here/,
    (w) => {
      writeFileSync(join(w.cwd, 'here'), '#!/bin/sh\n', { mode: 0o755 });
      return command(['--cwd', w.work], './here');
    },
  ],
  ['no PATH to find it on', /PATH/, (w) => ({ ...command([], 'env'), env: { PATH: w.bin } })],
  [
    'an li that is missing',
    /\/nonexistent\/li/,
    () => agent([], { LIONAGI_MCP_LI_BIN: '/nonexistent/li x' }),
  ],
  ['an li that is not on the PATH', /PATH/, () => agent([], { LIONAGI_MCP_LI_BIN: 'no-such-li' })],
  ['an li of blanks', /LIONAGI_MCP_LI_BIN/, () => agent([], { LIONAGI_MCP_LI_BIN: '  ' })],

  [
    'a notifier that is no JSON',
    /--notify-command/,
    () => command(['--notify-command', 'notify me'], 'true'),
  ],
  ['an empty notifier', /--notify-command/, () => command(['--notify-command', ''], 'true')],
  ['a notifier of no words', /--notify-command/, () => command(notify([]), 'true')],
  ['a notifier that is a text', /--notify-command/, () => command(notify('/bin/true'), 'true')],
  [
    'a notifier that is an object',
    /--notify-command/,
    () => command(notify({ argv: ['/bin/true'] }), 'true'),
  ],
  ['a notifier of numbers', /--notify-command/, () => command(notify(['/bin/true', 1]), 'true')],
  ['a notifier without a program', /--notify-command/, () => command(notify(['', 'x']), 'true')],
  ['a notifier that is missing', /--notify-command/, () => command(notify(['/nonexistent/it']), 'true')],
  [
    'a notifier that is not executable',
    /--notify-command/,
    (w) => command(notify([laid(w, 'n', '')]), 'true'),
  ],
  ['a notifier that is a directory', /--notify-command/, (w) => command(notify([w.bin]), 'true')],
  [
    '{sender} without a sender',
    /--notify-sender/,
    () => command(notify(['/bin/true', 'by={sender}']), 'true'),
  ],
  [
    '{sender} with an empty sender',
    /--notify-sender/,
    () => command([...notify(['/bin/true', '{sender}']), '--notify-sender', ''], 'true'),
  ],
  ['a notifier of li that is missing', /--notify-command/, () => agent(notify(['/nonexistent/it']))],

  ['an empty tag', /--tag/, () => command(['--tag', ''], 'true')],
  ['a blank tag', /--tag/, () => command(['--tag', ' \u00a0\t'], 'true')],
  ['one bad tag of several', /--tag/, () => command(['--tag', 'good', '--tag', ' '], 'true')],
  ['a tag of 129 bytes', /128/, () => command(['--tag', 'x'.repeat(129)], 'true')],
  ['a tag of 65 letters that are 130 bytes', /128/, () => command(['--tag', '\u00e9'.repeat(65)], 'true')],
  ['a tag of two lines', /--tag/, () => command(['--tag', 'a\nb'], 'true')],

  [
    'a prompt file that is missing',
    /--prompt-file/,
    (w) => command(['--prompt-file', `${w.work}/no`], 'true'),
  ],
  ['a prompt file that is a directory', /--prompt-file/, (w) => command(['--prompt-file', w.work], 'true')],
  ['two prompts', /--prompt/, (w) => agent(['--prompt', 'a', '--prompt-file', laid(w, 'p', 'b')])],
  [
    'words of 131,073 bytes, once the prompt file is named in them',
    /131073|1310\d\d|13[1-9]\d{3}/,
    (w) => command(['--prompt-file', laid(w, 'p', '')], 'true', '{prompt_file}'.repeat(8_000)),
  ],
  [
    'a prompt of 131,073 bytes that only a word could hold',
    /131073.*--prompt-file/,
    (w) => ({
      ...agent([]),
      words: ['orchestrate', 'flow', '--detach', '--prompt-file', laid(w, 'p', 'x'.repeat(131_073))],
    }),
  ],
  [
    'a prompt of 65,537 letters that are 131,074 bytes',
    /131074/,
    (w) => ({
      ...agent([]),
      words: ['orchestrate', 'fanout', '--detach', '--prompt-file', laid(w, 'p', '\u00e9'.repeat(65_537))],
    }),
  ],
  [
    'a NUL, which no word can hold',
    /NUL/,
    (w) => ({
      ...agent([]),
      words: ['orchestrate', 'flow', '--detach', '--prompt-file', laid(w, 'p', 'a\0b')],
    }),
  ],
  [
    'an li that would not be detached',
    /--detach/,
    () => ({ ...agent([]), words: ['agent', '--prompt', 'x'] }),
  ],
  [
    'servers that cannot be read',
    /\.mcp\.json/,
    (w) => {
      writeFileSync(join(w.cwd, '.mcp.json'), '{"mcpServers": []}');
      return agent(['--prompt', 'x']);
    },
  ],
  [
    'servers in something that is no file',
    /\.mcp\.json/,
    (w) => {
      mkdirSync(join(w.cwd, '.mcp.json'));
      return agent(['--prompt', 'x']);
    },
  ],
];

describe.concurrent('ADR-0106 D5, cases 62 and 65: what cannot work is refused while it has no trace', () => {
  it.each(TABLE)('%s', async (_what, said, asked) => {
    await inWorld(async (world) => {
      const { words, env } = asked(world);
      const before = everythingIn(world);
      const envelope = await ask(world, words, { env: { ...world.env, ...env } });
      expect(envelope.error).toMatchObject({ kind: 'invalid_input', message: expect.stringMatching(said) });
      expect(everythingIn(world)).toEqual(before);
    });
  });

  it('for a person: one line that says why, exit 2, and nothing on stdout', async () => {
    await inWorld(async (world) => {
      const words = ['job', 'submit', '--wait', '--cwd', join(world.work, 'gone'), '--', 'true'];
      const run = await runLion(words, world);
      expect([run.exitCode, run.stdout]).toEqual([2, '']);
      expect(run.stderr).toMatch(/^lion: --cwd is not a directory: .*\n$/);
    });
  });

  it('a caller whose own directory is gone', async () => {
    await inWorld(async (world) => {
      const { stdout, exitCode } = await inShell(
        world,
        'mkdir "$1"; cd "$1"; rmdir "$1"; lion job submit --machine -- true',
        [join(world.work, 'gone')],
      );
      expect(exitCode).toBe(0);
      const envelope: Envelope = JSON.parse(stdout.toString('utf8'));
      expect(envelope.error?.kind).toMatch(/^(invalid_input|unavailable)$/);
      expect(runsIn(world)).toEqual([]);
    });
  });

  it('a notifier and a sender that do work are taken', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier', '', ['{sender}']);
      const options = ['--notify-command', notifier.command, '--cwd', join(world.work, 'gone')];
      const given = await ask(world, ['job', 'submit', ...options, '--notify-sender', 'me', '--', 'true']);
      expect(given.error?.message).toMatch(/--cwd/);
      const env = { ...world.env, LIONAGI_MCP_NOTIFY_SENDER: 'me' };
      const known = await ask(world, ['job', 'submit', ...options, '--', 'true'], { env });
      expect(known.error?.message).toMatch(/--cwd/);
    });
  });
});

const NOBODY = 65_534;

describe.concurrent('ADR-0106 D5, case 65: a store that cannot be written leaves no part of a run', () => {
  const places: readonly (readonly [string, (world: World) => void, Partial<LionCall>])[] = [
    ['the jobs are a file', (w) => writeFileSync(w.jobs, ''), {}],
    ['their parent is a file', (w) => fileInsteadOf(dirname(w.jobs)), {}],
    ['a jobs directory of another user', (w) => mkdirSync(w.jobs), { uid: NOBODY }],
    ['a home of another user', () => {}, { uid: NOBODY }],
  ];
  it.for(places)('%s', async ([_what, lay, call], { skip }) => {
    if (call.uid !== undefined && process.getuid?.() !== 0) skip('needs root');
    await inWorld(async (world) => {
      mkdirSync(dirname(world.jobs));
      lay(world);
      const before = everythingIn(world);
      const envelope = await ask(world, ['job', 'submit', '--', 'true'], call);
      expect(envelope.error?.kind).toBe('unavailable');
      expect(everythingIn(world)).toEqual(before);
    });
  });

  const fills: readonly (readonly [string, number, number])[] = [
    ['full to the last page', 0, 10],
    ['with room for the directory alone', 1, 10],
    ['with room for half of a prompt', 4, 40_000],
    ['with room for the prompt and not for the record', 3, 8_000],
  ];
  it.for(fills)('a disk %s', async ([_what, freePages, promptBytes], { skip }) => {
    const why = whyNoMountNamespace();
    if (why !== null) skip(why);
    await inWorld(async (world) => {
      const disk = await mountSmallDisk(world, 64 * 4096);
      const prompt = laid(world, 'prompt', 'x'.repeat(promptBytes));
      mkdirSync(join(disk, 'mcp', 'jobs'), { recursive: true });
      await inShell(world, 'dd if=/dev/zero of="$1/fill" bs=4096 2>/dev/null; truncate -s -"$2" "$1/fill"', [
        disk,
        String(freePages * 4096),
      ]);
      const env = { ...world.env, LIONAGI_HOME: disk };
      // The record alone takes pages too, where its words are long.
      const words = ['job', 'submit', '--prompt-file', prompt, '--', 'true', 'y'.repeat(60_000)];
      const envelope = envelopeOf(await runLion(['--machine', ...words], { ...world, env }));
      expect(envelope.error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('ENOSPC'),
      });
      expect(readdirSync(join(disk, 'mcp', 'jobs'))).toEqual([]);
    });
  });
});

function fileInsteadOf(directory: string): void {
  rmSync(directory, { recursive: true });
  writeFileSync(directory, '');
}

/** Every name below the world, whatever made it. */
function everythingIn(world: World): string[] {
  return readdirSync(world.root, { recursive: true, encoding: 'utf8' }).sort();
}

function runsIn(world: World): string[] {
  return everythingIn(world).filter((name) => name.includes('mcp/jobs/'));
}
