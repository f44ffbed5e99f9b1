import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { askData } from '../support/machine.ts';
import { inShell } from '../support/shell.ts';
import { ended, logOf, recordNow, runOf, submitCommand, textIn } from '../support/submitted.ts';
import { makeWitness } from '../support/witness.ts';

describe.concurrent('ADR-0106 D5: a command as a run', () => {
  it('runs detached: own session and group, no input, its output appended to the log, nothing else open', async () => {
    await inWorld(async (world) => {
      const witness = makeWitness(
        world,
        'witness',
        'print("out"); sys.stdout.flush(); os.write(2, b"err\\n")',
      );
      const run = await submitCommand(world, [witness.file]);
      const seen = await witness.of(run.runId);
      expect([seen.session, seen.group]).toEqual([run.pid, run.pid]);
      expect(seen.fds).toEqual({ 0: '/dev/null', 1: run.log, 2: run.log });
      expect(seen.appends).toBe(true);
      expect(seen.cwd).toBe(world.cwd);
      await ended(run);
      expect(logOf(run)).toBe('out\nerr\n');
    });
  });

  it('gets no descriptor that its submitter was given by others', async () => {
    await inWorld(async (world) => {
      const witness = makeWitness(world);
      const line = 'exec 7>"$1" 9<&0; shift; exec "$LION_NODE" "$LION_MAIN" job submit --machine -- "$@"';
      const { stdout } = await inShell(world, line, [join(world.root, 'held'), witness.file]);
      const run = runOf(world, JSON.parse(stdout.toString('utf8')).data);
      expect(Object.keys((await witness.of(run.runId)).fds)).toEqual(['0', '1', '2']);
      await ended(run);
    });
  });

  it('gets the environment of its submitter, all but what no shell passes on, and the three of the run beside it', async () => {
    await inWorld(async (world) => {
      const witness = makeWitness(world);
      // Names that are no identifiers, and IFS, are dropped by the sh on the way (docs/contract.md).
      const odd = { 'a.dotted': '1', 'npm_config_a-dash': '2', 'BASH_FUNC_f%%': '() { :; }', 'q"': "it's" };
      const env = { ...world.env, ENV: '/nonexistent', EMPTY: '', QUOTED: "it's\n$(id)" };
      const run = await submitCommand(world, [witness.file], [], { env: { ...env, ...odd, IFS: 'x' } });
      const seen = (await witness.of(run.runId)).env;
      // A shell on the way says where it is, and how deep; nobody reads a lie out of that.
      for (const name of ['PWD', 'OLDPWD', 'SHLVL', '_', 'IFS', ...Object.keys(odd)]) delete seen[name];
      expect(seen).toEqual({
        ...env,
        LIONAGI_RUN_ID: run.runId,
        LIONAGI_MCP_JOB_RUN_ID: run.runId,
        LIONAGI_MCP_CAUSE_FILE: join(run.dir, 'terminal_cause.json'),
      });
      await ended(run);
    });
  });

  it('is on the record with its exit code', async () => {
    await inWorld(async (world) => {
      const options = ['--label', 'a label', '--tag', 'nightly', '--tag', 'b', '--cwd', world.work];
      const run = await submitCommand(world, ['sh', '-c', 'exit 7'], options);
      const record = await ended(run);
      expect(record).toMatchObject({
        run_id: run.runId,
        pid: run.pid,
        pgid: run.pid,
        kind: 'command',
        argv: ['sh', '-c', 'exit 7'],
        cwd: world.work,
        submit_cwd: world.cwd,
        label: 'a label',
        tags: ['nightly', 'b'],
        spawn_state: 'started',
        status: 'failed',
        exit_code: 7,
        terminal_source: 'cli_terminal_hook',
        finished_at_precision: 'observed',
      });
      const status = await askData(world, ['job', 'status', run.runId]);
      expect(status).toMatchObject({
        terminal: true,
        outcome: 'failed',
        exit_code: 7,
        tags: ['nightly', 'b'],
      });
      expect(readdirSync(run.dir).sort()).toEqual(['console.log', 'job.json', 'job.lock']);
    });
  });

  const endings: readonly (readonly [string, readonly string[], string, number])[] = [
    ['a success', ['true'], 'completed', 0],
    ['a failure', ['false'], 'failed', 1],
    ['the highest exit code', ['sh', '-c', 'exit 255'], 'failed', 255],
    ['an end by TERM', ['sh', '-c', 'kill -TERM $$'], 'failed', 143],
    ['an end by KILL', ['sh', '-c', 'kill -KILL $$'], 'failed', 137],
    ['an end by INT', ['sh', '-c', 'kill -INT $$'], 'failed', 130],
    ['an end by HUP', ['sh', '-c', 'kill -HUP $$'], 'failed', 129],
    ['an end by PIPE', ['sh', '-c', 'kill -PIPE $$'], 'failed', 141],
    ['an end by a fault', ['sh', '-c', 'ulimit -c 0; kill -SEGV $$'], 'failed', 139],
  ];
  it.each(endings)('a signal n that ended it is told as 128+n: %s', async (_what, argv, status, exitCode) => {
    await inWorld(async (world) => {
      const record = await ended(await submitCommand(world, argv));
      expect(record).toMatchObject({ status, exit_code: exitCode, terminal_source: 'cli_terminal_hook' });
    });
  });
});

/** Words that a shell would read as something else. */
const ODD_WORDS = [
  ...[
    "it's",
    '"double"',
    "'",
    '"',
    '\\',
    '\\n',
    '\\\\',
    'a  b',
    ' ',
    '',
    '\t',
    'two\nlines\n',
    '\n',
    'caf\u00e9 \u{1f600}',
  ],
  ...[
    '$(touch pwned)',
    '`touch pwned`',
    '; touch pwned',
    '| touch pwned',
    '&& touch pwned',
    '& touch pwned &',
  ],
  ...[
    '> pwned',
    '2>pwned',
    '$HOME',
    '$@',
    '$0',
    '$1',
    '$$',
    'a$(id)b',
    '*',
    '?',
    '[a-z]*',
    '~',
    '{a,b}',
    '!!',
    '#no',
  ],
  ...[
    '-n',
    '-e',
    '-c',
    '--',
    '--machine',
    '--help',
    '-',
    'A=b',
    '%s%n',
    '{run_id}',
    '{status}',
    '{prompt_file}',
    '\u007f',
  ],
];

describe.concurrent('ADR-0106 D5: no shell reads the words of a command', () => {
  it('they arrive as they were given, and are so on the record', async () => {
    await inWorld(async (world) => {
      writeFileSync(join(world.cwd, 'a-file-for-the-globs'), '');
      const witness = makeWitness(world, 'a \'program\' $(touch pwned) "name"');
      const run = await submitCommand(world, [witness.file, ...ODD_WORDS]);
      expect((await witness.of(run.runId)).argv).toEqual(ODD_WORDS);
      expect(recordNow(run).argv).toEqual([witness.file, ...ODD_WORDS]);
      expect(await ended(run)).toMatchObject({ exit_code: 0 });
      expect(readdirSync(world.cwd)).toEqual(['a-file-for-the-globs']);
      expect(logOf(run)).toBe('');
    });
  });

  it.each(['echo', 'printf', 'test', 'true', 'pwd', 'kill'])(
    'the program `%s` is the one on the PATH, not what a shell has by that name',
    async (name) => {
      await inWorld(async (world) => {
        const args = { echo: ['a\\nb', '-e', '\\t'], printf: ['%q|%s', "it's", 'b'], kill: ['-V'] }[name] ?? [
          '--version',
        ];
        const program = execFileSync('/usr/bin/which', [name], { env: world.env, encoding: 'utf8' }).trim();
        const byItself = await inShell(world, '"$@" 2>&1', [program, ...args]);
        const run = await submitCommand(world, [name, ...args]);
        expect(await ended(run)).toMatchObject({ exit_code: byItself.exitCode });
        expect(logOf(run)).toBe(byItself.stdout.toString('utf8'));
      });
    },
  );

  it.each(['cd', 'eval', 'exec', 'exit', 'set', 'shift', 'trap', 'if'])(
    'nor where a program of the user is called `%s`',
    async (name) => {
      await inWorld(async (world) => {
        const witness = makeWitness(world, name);
        const env = { ...world.env, PATH: `${world.bin}:/usr/bin:/bin` };
        const run = await submitCommand(world, [name, 'touch', 'pwned'], [], { env });
        expect(await ended(run, 10_000)).toMatchObject({ exit_code: 0 });
        expect(logOf(run)).toBe('');
        expect((await witness.of(run.runId, 1_000)).argv).toEqual(['touch', 'pwned']);
        expect(existsSync(join(world.cwd, 'pwned'))).toBe(false);
      });
    },
  );

  it('nor does a program found through a PATH of relative directories', async () => {
    await inWorld(async (world) => {
      mkdirSync(join(world.work, 'tools'));
      const witness = makeWitness(world, '../work/tools/mine');
      const env = { ...world.env, PATH: 'tools:/usr/bin:/bin' };
      const run = await submitCommand(world, ['mine', 'x'], ['--cwd', world.work], { env });
      expect((await witness.of(run.runId)).argv).toEqual(['x']);
      await ended(run);
    });
  });
});

describe.concurrent('ADR-0106 D5: a prompt file is copied before the spawn', () => {
  it('editing or removing the original later changes nothing', async () => {
    await inWorld(async (world) => {
      const [prompt, go] = [join(world.work, 'prompt.md'), join(world.root, 'go')];
      const text = `caf\u00e9 $(touch pwned)\r\n\u0000 a NUL, \ufeff a mark, no last newline`;
      writeFileSync(prompt, text);
      const wait = `while ! [ -e "$1" ]; do sleep 0.02; done; cat "$2" "\${3#--in=}"; printf %s "$3"`;
      const argv = ['sh', '-c', wait, 'sh', go, '{prompt_file}', '--in={prompt_file}'];
      const run = await submitCommand(world, argv, ['--prompt-file', prompt]);
      writeFileSync(prompt, 'edited');
      unlinkSync(prompt);
      writeFileSync(go, '');
      expect(await ended(run)).toMatchObject({ exit_code: 0, argv });
      expect(logOf(run)).toBe(`${text}${text}--in=${join(run.dir, 'prompt.txt')}`);
    });
  });

  it('one of 3 MB passes, where no command line could hold it (case 65)', async () => {
    await inWorld(async (world) => {
      const prompt = join(world.work, 'prompt.md');
      writeFileSync(prompt, 'x'.repeat(3_000_000));
      const run = await submitCommand(world, ['wc', '-c', '{prompt_file}'], ['--prompt-file', prompt]);
      await ended(run);
      expect(logOf(run)).toBe(`3000000 ${join(run.dir, 'prompt.txt')}\n`);
    });
  });

  it('one that is not UTF-8 arrives byte for byte, or is refused', async () => {
    await inWorld(async (world) => {
      const prompt = join(world.work, 'prompt.md');
      writeFileSync(prompt, Buffer.from([0x61, 0xff, 0xfe, 0xc3, 0x0a]));
      const { stdout } = await inShell(
        world,
        'lion job submit --machine --prompt-file "$1" -- od -An -tx1 "{prompt_file}"',
        [prompt],
      );
      const envelope = JSON.parse(stdout.toString('utf8'));
      if (!envelope.ok) {
        expect(envelope.error.kind).toBe('invalid_input');
        return;
      }
      const run = runOf(world, envelope.data);
      await ended(run);
      expect(logOf(run)).toBe(' 61 ff fe c3 0a\n');
    });
  });

  it('one that comes through a pipe is copied as well', async () => {
    await inWorld(async (world) => {
      const line =
        'printf "from a pipe" | lion job submit --machine --prompt-file /dev/stdin -- cat "{prompt_file}"';
      const { stdout } = await inShell(world, line);
      const run = runOf(world, JSON.parse(stdout.toString('utf8')).data);
      await ended(run);
      expect(logOf(run)).toBe('from a pipe');
      expect(await textIn(join(run.dir, 'prompt.txt'))).toBe('from a pipe');
    });
  });
});
