import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layEnded, runIdOf } from '../support/runs-of-all-sorts.ts';
import type { World } from '../support/world.ts';

async function wordsFor(world: World, ...words: string[]): Promise<string[]> {
  const { stdout, stderr, exitCode } = await runLion(['complete', '--', ...words], world);
  expect([exitCode, stderr]).toEqual([0, '']);
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

describe('lion complete', () => {
  it('offers verbs, with what they do, and none that are hidden', async () => {
    await inWorld(async (world) => {
      expect(await wordsFor(world, '')).toEqual(expect.arrayContaining(['job', 'notify', 'completion']));
      expect(await wordsFor(world, 'com')).toEqual(['completion']);
      expect(await wordsFor(world, 'job', 'st')).toEqual(['status']);
      expect(await wordsFor(world, 'job', 'nothing')).toEqual([]);
      expect((await runLion(['complete', '--', 'job', 'st'], world)).stdout).toMatch(/^status\t\w.*\n$/);
    });
  });

  it('offers the options of the verb, and those of every verb', async () => {
    await inWorld(async (world) => {
      expect(await wordsFor(world, 'job', 'kill', runIdOf(1), '--')).toEqual([
        '--signal',
        '--grace',
        '--force',
        '--help',
        '--machine',
      ]);
      expect(await wordsFor(world, 'job', 'list', '--no')).toEqual(['--notify-state', '--no-index']);
      expect(await wordsFor(world, 'job', 'list', '')).toContain('--limit');
    });
  });

  it('offers the newest runs where a run may stand, those that were given no more', async () => {
    await inWorld(async (world) => {
      for (let n = 1; n <= 55; n++) layEnded(world, runIdOf(n), 'completed');
      mkdirSync(join(world.jobs, 'a $(name) \u001b[31m'), { recursive: true });
      const newest = Array.from({ length: 50 }, (_, at) => runIdOf(55 - at));
      expect(await wordsFor(world, 'job', 'status', '')).toEqual(newest);
      expect(await wordsFor(world, 'job', 'wait', runIdOf(55), '')).toEqual(
        [...newest.slice(1), runIdOf(5)].slice(0, 49),
      );
      expect(await wordsFor(world, 'job', 'status', runIdOf(1).slice(0, -3))).toEqual([runIdOf(1)]);
      expect(await wordsFor(world, 'hook', 'terminal', '--run-id', '')).toEqual(newest);
      expect(await wordsFor(world, 'notify', 'test', '')).toEqual(newest);
      // One run, and it was given.
      expect(await wordsFor(world, 'job', 'status', runIdOf(55), '')).not.toContain(runIdOf(54));
    });
  });

  it('offers the values a word may have, and leaves files and commands to the shell', async () => {
    await inWorld(async (world) => {
      expect(await wordsFor(world, 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
      expect(await wordsFor(world, 'job', 'submit', '--cwd', '')).toEqual([]);
      expect(await wordsFor(world, 'job', 'submit', '--', '')).toEqual([]);
      expect(await wordsFor(world, 'job', 'submit', '--', 'job', '--')).toEqual([]);
    });
  });

  it('writes nothing, and a store that is not there is no fault', async () => {
    await inWorld(async (world) => {
      const env = { ...world.env, LIONAGI_HOME: join(world.root, 'none') };
      const { exitCode, stdout, stderr } = await runLion(['complete', '--', 'job', 'status', ''], {
        ...world,
        env,
      });
      expect([exitCode, stdout, stderr]).toEqual([0, '', '']);
      expect(() => execFileSync('ls', [env.LIONAGI_HOME], { stdio: 'pipe' })).toThrow();
    });
  });

  it('for a program: the same as data', async () => {
    await inWorld(async (world) => {
      expect(await askData(world, ['complete', '--', 'job', 'st'])).toEqual({
        candidates: [{ word: 'status', description: expect.any(String) }],
      });
      expect(await askData(world, ['completion', 'bash'])).toMatchObject({ shell: 'bash' });
    });
  });
});

/** Where `lion` is a command of its own name, as a shell finds it. */
function withLion(world: World): Record<string, string> {
  const lion = join(world.bin, 'lion');
  writeFileSync(lion, `#!/bin/sh\nexec '${process.execPath}' '${LION_MAIN}' "$@"\n`);
  chmodSync(lion, 0o755);
  return { ...world.env, PATH: `${world.bin}:${process.env.PATH ?? ''}`, TERM: 'dumb' };
}

function has(shell: string): boolean {
  try {
    execFileSync(shell, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function runShell(world: World, argv: readonly [string, ...string[]]): string[] {
  const [shell, ...args] = argv;
  const out = execFileSync(shell, args, { env: withLion(world), cwd: world.cwd, encoding: 'utf8' });
  return out.split('\n').filter((line) => line !== '');
}

describe.skipIf(!has('bash'))('in bash', () => {
  function completed(world: World, ...words: string[]): string[] {
    const script = `eval "$(lion completion bash)"
      complete -p lion | grep -q _lion_complete || exit 9
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      _lion_complete "$1" "\${!#}" ""
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    return runShell(world, ['bash', '--norc', '-c', script, 'bash', 'lion', ...words]);
  }

  it('completes verbs, options and runs', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      layEnded(world, runIdOf(2), 'completed');
      expect(completed(world, 'job', 'st')).toEqual(['status']);
      expect(completed(world, '')).toEqual(expect.arrayContaining(['job', 'daemon']));
      expect(completed(world, 'job', 'prune', '--old')).toEqual(['--older-than']);
      expect(completed(world, 'job', 'status', '2026')).toEqual([runIdOf(2), runIdOf(1)]);
      expect(completed(world, 'job', 'submit', '--cwd', '')).toEqual([]);
    });
  });
});

// Skipped where the shell is not installed.
describe.skipIf(!has('zsh'))('in zsh', () => {
  it('completes verbs, options and runs, with what they are', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      // The completion system shows only to a terminal what it found: these two stand in for it.
      const script = `compdef() { [[ "$1 $2" = '_lion lion' ]] || exit 9 }
        eval "$(lion completion zsh)"
        _describe() { print -rl -- "\${(@P)3}" }
        _files() { print -r -- files }
        complete_it() { words=("$@"); CURRENT=$#; PREFIX="\${words[-1]}"; _lion; print -r -- . }
        complete_it lion job st
        complete_it lion job status 2026
        complete_it lion job submit --cwd ''
        complete_it lion not`;
      const out = runShell(world, ['zsh', '-f', '-c', script]);
      expect(out).toEqual([
        expect.stringMatching(/^status:\w/),
        '.',
        expect.stringMatching(new RegExp(`^${runIdOf(1)}:?$`)),
        '.',
        'files',
        '.',
        expect.stringMatching(/^notify:notices of ends\\: /),
        '.',
      ]);
    });
  });
});

describe.skipIf(!has('fish'))('in fish', () => {
  function completed(world: World, line: string): string[] {
    return runShell(world, [
      'fish',
      '--no-config',
      '-c',
      `lion completion fish | source; complete -C "${line}"`,
    ]);
  }

  it('completes verbs, options and runs, with what they are', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      expect(completed(world, 'lion job st')).toEqual([expect.stringMatching(/^status\t\w/)]);
      expect(completed(world, 'lion job status 2026')).toEqual([runIdOf(1)]);
      expect(completed(world, 'lion job prune --old')).toEqual([expect.stringMatching(/^--older-than\t/)]);
      writeFileSync(join(world.cwd, 'a-file'), '');
      expect(completed(world, 'lion job submit --prompt-file a-')).toEqual([
        expect.stringMatching(/^a-file/),
      ]);
    });
  });
});
