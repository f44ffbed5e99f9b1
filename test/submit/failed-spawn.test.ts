import { chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runAt } from '../support/lay-run.ts';
import { type LionCall, runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { recordNow } from '../support/submitted.ts';
import type { World } from '../support/world.ts';

const NOBODY = 65_534;

interface Asked {
  readonly words: readonly string[];
  readonly env?: Record<string, string>;
  readonly call?: Partial<LionCall>;
}

/** An `li` that is there and executable, and that the system does not take. */
function badLi(world: World, text: string | Buffer): Asked {
  const li = join(world.bin, 'li');
  writeFileSync(li, text, { mode: 0o755 });
  return { words: ['agent', '--detach', '--prompt', 'x'], env: { LIONAGI_MCP_LI_BIN: li } };
}

/** Each word is short enough; together, once the prompt file is named in them, no system takes them. */
function tooManyWords(world: World): Asked {
  writeFileSync(join(world.work, 'prompt'), '');
  const copy = join(world.jobs, '20261201T000000-000000', 'prompt.txt');
  const word = '{prompt_file}'.repeat(Math.floor(125_000 / copy.length));
  const words = Array.from({ length: 60 }, () => word);
  return { words: ['job', 'submit', '--prompt-file', join(world.work, 'prompt'), '--', 'true', ...words] };
}

function closedDirectory(world: World): Asked {
  chownSync(world.lionagiHome, NOBODY, NOBODY);
  mkdirSync(join(world.work, 'closed'), { mode: 0o700 });
  return {
    words: ['job', 'submit', '--cwd', join(world.work, 'closed'), '--', 'true'],
    call: { uid: NOBODY },
  };
}

const ELF = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(57)]);

const TABLE: readonly (readonly [string, string, (world: World) => Asked])[] = [
  ['words that are too long together', 'E2BIG', tooManyWords],
  ['a script whose interpreter is not there', 'ENOENT', (w) => badLi(w, '#!/nonexistent/interpreter\n')],
  ['a program for no machine', 'ENOEXEC', (w) => badLi(w, ELF)],
  ['a file that is no program', 'ENOEXEC', (w) => badLi(w, '\0\0\0\0')],
  ['a directory the user may not enter', 'EACCES', closedDirectory],
];

describe.concurrent('ADR-0106 D5, case 65: a spawn that fails is an end of its own', () => {
  it.for(TABLE)('%s', async ([_what, code, asked], { skip }) => {
    if (code === 'EACCES' && process.getuid?.() !== 0) skip('needs root');
    await inWorld(async (world) => {
      const { words, env, call } = asked(world);
      const notifier = makeNotifier(world, 'notifier');
      const verb = words[0] === 'job' ? 2 : 1;
      const all = [...words.slice(0, verb), '--notify-command', notifier.command, ...words.slice(verb)];
      const envelope = await ask(world, all, { env: { ...world.env, ...env }, ...call });
      expect(envelope.error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining(code),
        detail: { reason_code: 'spawn_failed' },
      });
      const runId: string = envelope.error?.detail.run_id;
      expect(readdirSync(world.jobs)).toEqual([runId]);
      const run = runAt(join(world.jobs, runId), runId);
      expect(recordNow(run)).toMatchObject({
        pid: null,
        spawn_state: 'failed',
        status: 'failed',
        reason: expect.stringContaining(code),
        terminal_source: 'spawn_failure',
        finished_at_precision: 'observed',
      });
      const before = run.text();
      const shown = { run_id: runId, terminal: true, outcome: 'failed', reason_code: 'spawn_failed' };
      expect(await askData(world, ['job', 'status', runId], call)).toMatchObject(shown);
      const list = await askData(world, ['job', 'list'], call);
      expect(list.jobs).toMatchObject([{ ...shown, record_state: 'ok', preparing_age_seconds: null }]);
      expect(await askData(world, ['job', 'wait', runId, '--max-wait', '0'], call)).toMatchObject({
        ...{ all_terminal: true, pending: [], stopped_without_end: [], unresolved_spawn: [] },
      });
      // Its submitter was told; nobody else is owed a word.
      expect(notifier.calls()).toEqual([]);
      expect(run.text()).toBe(before);
      expect(readdirSync(run.dir).filter((name) => name.includes('tmp'))).toEqual([]);
    });
  });

  it('for a person: one line that says why, exit 1, and nothing on stdout', async () => {
    await inWorld(async (world) => {
      const { words, env } = badLi(world, '#!/nonexistent/interpreter\n');
      const run = await runLion([...words, '--wait'], { ...world, env: { ...world.env, ...env } });
      expect([run.exitCode, run.stdout]).toEqual([1, '']);
      expect(run.stderr).toMatch(/^lion: the run [0-9T]+-[0-9a-f]{6} could not be started: ENOENT\n$/);
    });
  });
});

describe.concurrent('case 65: a command that cannot be run ends as one that failed', () => {
  const commands: readonly (readonly [string, string, number])[] = [
    ['its interpreter is not there', '#!/nonexistent/interpreter\n', 127],
    ['it exits 1 within a moment', '#!/bin/false\n', 1],
  ];
  it.each(commands)('%s', async (_what, text, exitCode) => {
    await inWorld(async (world) => {
      const program = join(world.bin, 'program');
      writeFileSync(program, text, { mode: 0o755 });
      const handle = await askData(world, ['job', 'submit', '--', program]);
      const wait = await askData(world, ['job', 'wait', handle.run_id, '--max-wait', '20']);
      expect(wait.all_terminal).toBe(true);
      const status = await askData(world, ['job', 'status', handle.run_id]);
      expect(status).toMatchObject({ outcome: 'failed', terminal_source: 'cli_terminal_hook' });
      expect(status.exit_code).toBe(exitCode);
    });
  });
});
