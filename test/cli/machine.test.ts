import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { type LionCall, runLion } from '../support/lion.ts';
import { ask, askData, envelopeOf } from '../support/machine.ts';
import {
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  laySpawnFailed,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { inShell } from '../support/shell.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { makeWorld, type World } from '../support/world.ts';

const [ENDED, LIVE, GONE, ADVISORY, PREPARING, UNSPAWNED, HOOKED] = [1, 2, 3, 4, 5, 6, 7].map(runIdOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const DAMAGED = {
  unparsable: runIdOf(20),
  empty: runIdOf(21),
  zeros: runIdOf(22),
  directory: runIdOf(23),
  fifo: runIdOf(24),
  dangling: runIdOf(25),
};
const WRONG_SHAPE = runIdOf(30);
const RESERVED = runIdOf(31);
const NOBODY_HAS = '20200101T000000-ffffff';
const NO_IDS = ['../x', 'a/b', '.', '..', '', ' ', '/', '/etc/passwd', `../jobs/${ENDED}`, `${ENDED}/`];

let world: World;

beforeAll(async () => {
  world = await makeWorld();
  layEnded(world, ENDED, 'completed');
  await layLive(world, LIVE);
  await layGone(world, GONE);
  layAdvisory(world, ADVISORY);
  layPreparing(world, PREPARING, 700);
  laySpawnFailed(world, UNSPAWNED);
  layAdvisory(world, HOOKED);
  layDamaged(world);
});

afterAll(async () => {
  expect(await world.dispose()).toEqual([]);
});

function layDamaged({ jobs }: World): void {
  const into = (id: string): string => {
    mkdirSync(join(jobs, id));
    return join(jobs, id, 'job.json');
  };
  writeFileSync(into(DAMAGED.unparsable), '{"run_id": ');
  writeFileSync(into(DAMAGED.empty), '');
  writeFileSync(into(DAMAGED.zeros), Buffer.alloc(1024));
  mkdirSync(into(DAMAGED.directory));
  execFileSync('mkfifo', [into(DAMAGED.fifo)]);
  symlinkSync('nowhere', into(DAMAGED.dangling));
  writeFileSync(into(WRONG_SHAPE), '[]');
  mkdirSync(join(jobs, RESERVED));
}

/** Command lines that are answered; the name of what a verb answers with. */
const ANSWERED: readonly (readonly [string, readonly string[]])[] = [
  ['handshake', ['handshake']],
  ['list', ['job', 'list']],
  ['list with a limit', ['job', 'list', '--limit', '2']],
  ['list with a status', ['job', 'list', '--status', 'a word nobody has']],
  ['status of an ended run', ['job', 'status', ENDED]],
  ['status of a live run', ['job', 'status', LIVE]],
  ['status of a gone run', ['job', 'status', GONE]],
  ['status of an advisory orphan', ['job', 'status', ADVISORY]],
  ['status of a preparing run', ['job', 'status', PREPARING]],
  ['status of a run that was not spawned', ['job', 'status', UNSPAWNED]],
  ['output', ['job', 'output', ENDED]],
  ['output with a tail', ['job', 'output', ENDED, '--tail-chars', '1']],
  ['wait for an ended run', ['job', 'wait', ENDED]],
  ['wait for a live run', ['job', 'wait', LIVE, '--max-wait', '0']],
  [
    'wait for all sorts',
    ['job', 'wait', ENDED, LIVE, GONE, ADVISORY, PREPARING, UNSPAWNED, '--max-wait', '0'],
  ],
  ['wait for nothing that is', ['job', 'wait', NOBODY_HAS, ...NO_IDS, DAMAGED.fifo, '--max-wait', '0']],
  ['hook terminal', ['hook', 'terminal', '--run-id', HOOKED]],
  ['kill of an ended run', ['job', 'kill', ENDED]],
  ['kill of a run nobody has', ['job', 'kill', NOBODY_HAS]],
  ['kill of an advisory orphan', ['job', 'kill', ADVISORY]],
  ['submit', ['job', 'submit', '--', 'true']],
  ['hook terminal of a run nobody has', ['hook', 'terminal', '--run-id', NOBODY_HAS]],
  ['--help', ['--help']],
  ['--version', ['--version']],
  ['help', ['help']],
  ['help of a verb', ['job', 'list', '--help']],
];

describe('ADR-0106 D1, D3, D8: under --machine every verb leaves one JSON object and a newline, and exits 0', () => {
  it.concurrent.each(ANSWERED)('an answer: %s', async (_what, args) => {
    const envelope = await ask(world, args);
    expect(envelope.ok, JSON.stringify(envelope.error)).toBe(true);
  });

  it('the flag counts wherever it stands before a --', async () => {
    for (const args of [
      ['--machine', 'job', 'list'],
      ['job', '--machine', 'list'],
      ['job', 'list', '--machine'],
      ['job', 'list', '--machine', '--limit', '3', '--machine'],
    ])
      expect(envelopeOf(await runLion(args, world)).data.jobs).toBeDefined();
  });

  it('--help and --version are data too, and not a word of them stands outside the object', async () => {
    expect((await askData(world, ['--help'])).text).toContain('Usage: lion');
    expect((await askData(world, ['--version'])).text).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('on a terminal it is not coloured, not cut and not paged', async () => {
    const seen = await lionOnTerminal(world, ['job', 'list', '--machine'], { columns: 40 });
    expect([seen.exitCode, seen.stderr]).toEqual([0, '']);
    expect(seen.screen).toMatch(/^\{[\x20-\x7e]*\}\n$/);
    expect(JSON.parse(seen.screen).data.jobs.length).toBeGreaterThan(10);
  });

  it('what people should hear goes to stderr and leaves stdout alone', async () => {
    await inWorld(async (own) => {
      mkdirSync(join(own.lionagiHome, 'mcp'), { recursive: true });
      writeFileSync(join(own.lionagiHome, 'mcp', 'liond.yaml'), 'no_such_key: 1\n');
      const run = await runLion(['job', 'list', '--machine'], own);
      expect(envelopeOf(run).ok).toBe(true);
      expect(run.stderr).toContain('no_such_key');
    });
  });
});

describe('ADR-0106 D1: --machine after a -- is not the flag', () => {
  it('without the flag a -- makes it an argument, answered in words on stderr', async () => {
    const run = await runLion(['job', 'status', '--', '--machine'], world);
    expect([run.exitCode, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain('--machine');
  });

  it('with the flag before it the argument is the id that was asked for', async () => {
    const envelope = await ask(world, ['job', 'status', '--', '--machine']);
    expect(envelope.error?.kind).toBe('not_found');
    expect(envelope.error?.message).toContain('--machine');
  });
});

const VERBS: readonly (readonly string[])[] = [
  ['handshake'],
  ['job', 'list'],
  ['job', 'status'],
  ['job', 'wait'],
  ['job', 'output'],
  ['job', 'kill'],
  ['job', 'submit'],
  ['agent'],
  ['play'],
  ['orchestrate', 'flow'],
  ['orchestrate', 'fanout'],
  ['hook', 'terminal'],
];
/** Verbs that take one run, and the words that stand before it. */
const ONE_RUN: readonly (readonly string[])[] = [
  ['job', 'status'],
  ['job', 'output'],
  ['job', 'kill'],
  ['hook', 'terminal', '--run-id'],
];

const bad = (name: string, args: readonly string[]) => [name, 'invalid_input', args] as const;
const REFUSED: readonly (readonly [string, string, readonly string[]])[] = [
  bad('no verb', []),
  bad('an unknown verb', ['nosuch']),
  bad('a group without a verb', ['job']),
  bad('an unknown verb of a group', ['job', 'nosuch']),
  bad('a mistyped verb', ['job', 'statsu', ENDED]),
  bad('an unknown option before the verb', ['--nosuch', 'job', 'list']),
  ...VERBS.map((verb) => bad(`an unknown option of ${verb.join(' ')}`, [...verb, '--nosuch'])),
  ...ONE_RUN.map((verb) => bad(`${verb.join(' ')} without a run`, verb)),
  bad('hook terminal without --run-id', ['hook', 'terminal']),
  bad('wait without a run', ['job', 'wait']),
  bad('submit without a command', ['job', 'submit']),
  bad('submit of a program that is not there', ['job', 'submit', '--', '/nonexistent/program']),
  bad('submit in a directory that is not there', ['job', 'submit', '--cwd', '/nonexistent', '--', 'true']),
  bad('an agent in the foreground', ['agent', '--prompt', 'x']),
  bad('kill with a signal that is none', ['job', 'kill', ENDED, '--signal', 'NOSUCH']),
  bad('kill with a grace that is none', ['job', 'kill', ENDED, '--grace', 'soon']),
  bad('an unknown verb of orchestrate', ['orchestrate', 'nosuch']),
  bad('one argument too many', ['job', 'status', ENDED, LIVE]),
  bad('an argument where none is taken', ['job', 'list', ENDED]),
  bad('an argument of handshake', ['handshake', 'please']),
  ...['--limit', '--status'].map((option) => bad(`list ${option} without a value`, ['job', 'list', option])),
  ...['--max-wait', '--poll-interval'].map((option) =>
    bad(`wait ${option} without a value`, ['job', 'wait', ENDED, option]),
  ),
  ...['0', '-1', '1.5', 'x', '', '1e3', ' 5', '99999999999999999999'].map((value) =>
    bad(`list --limit ${JSON.stringify(value)}`, ['job', 'list', '--limit', value]),
  ),
  ...['0', '-5', 'x', '', '1e9', '999999999999'].map((value) =>
    bad(`output --tail-chars ${JSON.stringify(value)}`, ['job', 'output', ENDED, '--tail-chars', value]),
  ),
  ...['--max-wait', '--poll-interval'].map((option) =>
    bad(`wait ${option} nan`, ['job', 'wait', ENDED, option, 'nan']),
  ),
  bad('hook terminal --exit-code x', ['hook', 'terminal', '--run-id', HOOKED, '--exit-code', 'x']),
  ...ONE_RUN.flatMap((verb) =>
    NO_IDS.map((id) => bad(`${verb.slice(0, 2).join(' ')} of ${JSON.stringify(id)}`, [...verb, id])),
  ),
  ...['status', 'output'].flatMap((verb) => [
    [`${verb} of an id nobody has`, 'not_found', ['job', verb, NOBODY_HAS]] as const,
    [`${verb} of a reservation`, 'not_found', ['job', verb, RESERVED]] as const,
    [`${verb} of a prefix that many have`, 'conflict', ['job', verb, '20260801']] as const,
    [`${verb} of a record of another shape`, 'unavailable', ['job', verb, WRONG_SHAPE]] as const,
    ...Object.entries(DAMAGED).map(
      ([how, id]) => [`${verb} of a damaged record (${how})`, 'unavailable', ['job', verb, id]] as const,
    ),
  ]),
  ...['unparsable', 'zeros', 'directory', 'fifo'].map((how) => {
    const id = DAMAGED[how as keyof typeof DAMAGED];
    return [
      `the hook of a damaged record (${how})`,
      'unavailable',
      ['hook', 'terminal', '--run-id', id],
    ] as const;
  }),
];

describe('ADR-0106 D3, D8: a refusal is an envelope with a kind of the closed set, and exits 0', () => {
  it.concurrent.each(REFUSED)('%s: %s', async (_what, kind, args) => {
    const envelope = await ask(world, args);
    expect(envelope.error?.kind, JSON.stringify(envelope)).toBe(kind);
  });

  it('a damaged record names its state beside the kind', async () => {
    for (const id of Object.values(DAMAGED))
      expect((await ask(world, ['job', 'status', id])).error?.detail.record_state).toBe('unreadable');
    const shape = await ask(world, ['job', 'status', WRONG_SHAPE]);
    expect(shape.error?.detail.record_state).toBe('wrong_shape');
  });

  it('wait tells of each id it cannot observe by the same kinds, and of the others all the same', async () => {
    const wanted: [string, string | null][] = [
      [NOBODY_HAS, 'not_found'],
      [ENDED, null],
      ...NO_IDS.map((id): [string, string] => [id, 'invalid_input']),
      ['20260801', 'conflict'],
      [DAMAGED.fifo, 'unavailable'],
      [WRONG_SHAPE, 'unavailable'],
    ];
    const data = await askData(world, ['job', 'wait', '--max-wait', '0', ...wanted.map(([id]) => id)]);
    const told = data.runs.map((entry: { error: { kind: string } | null }) => entry.error?.kind ?? null);
    expect(told).toEqual(wanted.map(([, kind]) => kind));
    expect(data.runs[1]).toMatchObject({ run_id: ENDED, terminal: true, outcome: 'succeeded' });
    expect(data.all_terminal).toBe(false);
  });

  it('every verb that the help names is held to it by its unknown options', async () => {
    for (const verb of await verbsOf(world, []))
      expect((await ask(world, [...verb, '--no-such-option'])).error?.kind, verb.join(' ')).toBe(
        'invalid_input',
      );
  });
});

/** The verbs below these words, as the help lists them. */
async function verbsOf(of: World, words: readonly string[]): Promise<string[][]> {
  const { text } = await askData(of, [...words, '--help']);
  const listed = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(text)?.[1] ?? '';
  const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)]
    .map(([, name]) => name as string)
    .filter((name) => name !== 'help');
  if (names.length === 0) return [[...words]];
  return (await Promise.all(names.map((name) => verbsOf(of, [...words, name])))).flat();
}

describe('ADR-0106 D3: a jobs directory that cannot be looked into is said, and is no empty store', () => {
  async function holds(own: World, call: Partial<LionCall>): Promise<void> {
    expect((await ask(own, ['job', 'list'], call)).error?.kind).toBe('unavailable');
    expect((await ask(own, ['job', 'status', ENDED], call)).error?.kind).toBe('unavailable');
    expect((await ask(own, ['job', 'output', ENDED], call)).error?.kind).toBe('unavailable');
    const data = await askData(own, ['job', 'wait', ENDED, '--max-wait', '0'], call);
    expect(data.runs[0].error.kind).toBe('unavailable');
    expect(data.all_terminal).toBe(false);
    expect((await ask(own, ['hook', 'terminal', '--run-id', ENDED], call)).error?.kind).toBe('unavailable');
  }

  it('a file stands in its place', async () => {
    await inWorld(async (own) => {
      mkdirSync(join(own.lionagiHome, 'mcp'), { recursive: true });
      writeFileSync(own.jobs, 'not a directory');
      await holds(own, {});
    });
  });

  it('it may not be read', async () => {
    await inWorld(async (own) => {
      layEnded(own, ENDED, 'completed');
      const uid = process.getuid?.() === 0 ? 65534 : undefined;
      if (uid !== undefined) execFileSync('chown', ['-R', String(uid), own.root]);
      chmodSync(own.jobs, 0);
      await holds(own, uid === undefined ? {} : { uid });
      chmodSync(own.jobs, 0o700);
    });
  });

  it('a store that is not there yet is an empty one', async () => {
    await inWorld(async (own) => {
      rmSync(own.lionagiHome, { recursive: true });
      expect(await askData(own, ['job', 'list'])).toMatchObject({ jobs: [], truncated: false });
      expect((await ask(own, ['job', 'status', ENDED])).error?.kind).toBe('not_found');
      expect(existsSync(own.lionagiHome)).toBe(false);
    });
  });
});

describe('ADR-0106 D2: the version is an integer on every envelope', () => {
  it('the handshake names the contract, the oldest one still spoken and which build speaks', async () => {
    const data = await askData(world, ['handshake']);
    expect(data).toEqual({
      contract_version: 1,
      min_supported_version: 1,
      implementation: 'liond',
      implementation_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      module: expect.any(String),
    });
    expect(isAbsolute(data.module) && existsSync(data.module)).toBe(true);
    expect(data.min_supported_version).toBeLessThanOrEqual(data.contract_version);
  });

  it('it is answered without a store, a home or a readable configuration', async () => {
    const nowhere = { env: { PATH: '/usr/bin:/bin', LIONAGI_HOME: '/nonexistent' }, cwd: '/' };
    const envelope = envelopeOf(await runLion(['handshake', '--machine'], nowhere));
    expect(envelope.contract_version).toBe(1);
  });

  it('answers and refusals carry the version the handshake names', async () => {
    const spoken = (await askData(world, ['handshake'])).contract_version;
    for (const args of [['job', 'list'], ['job', 'status', NOBODY_HAS], ['nosuch'], ['--help']])
      expect((await ask(world, args)).contract_version).toBe(spoken);
  });
});

describe('ADR-0106 D8: exit 0 says that an envelope was written', () => {
  it('where the envelope cannot be written the status is not 0', async () => {
    const { exitCode, stderr } = await inShell(world, 'lion handshake --machine > /dev/full');
    expect(exitCode).not.toBe(0);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
