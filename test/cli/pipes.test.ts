import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layEnded, runIdOf } from '../support/runs-of-all-sorts.ts';
import { inShell } from '../support/shell.ts';
import { makeWorld, type World } from '../support/world.ts';

const RUNS = 3_000;
const LOGGED = runIdOf(RUNS);
/** What a pipe holds on this system; a naive exit cuts there. */
const PIPE_BYTES = 65_536;

let world: World;

beforeAll(async () => {
  world = await makeWorld();
  for (let n = 1; n <= RUNS; n++) layEnded(world, runIdOf(n), n % 2 === 0 ? 'completed' : 'failed');
  const line = `a line of the log, caf\u00e9 \u{1f600}\n`;
  appendFileSync(join(world.jobs, LOGGED, 'console.log'), line.repeat(2_000_000 / Buffer.byteLength(line)));
});

afterAll(async () => {
  expect(await world.dispose()).toEqual([]);
});

const IDS = Array.from({ length: 500 }, (_, at) => runIdOf(at + 1));

describe('ADR-0106 D1, case 9: an envelope is complete however slowly it is read', () => {
  const calls: readonly (readonly [string, number, readonly string[]])[] = [
    ['job list of 3,000 runs', 1_000_000, ['job', 'list', '--limit', String(RUNS)]],
    ['job output of a 2 MB log', 1_900_000, ['job', 'output', LOGGED, '--tail-chars', '4000000']],
    ['job wait on 500 runs', 150_000, ['job', 'wait', ...IDS]],
    ['a refusal that repeats a long id', 100_000, ['job', 'status', '/'.repeat(100_000)]],
  ];

  it.concurrent.each(calls)('%s', async (_what, least, args) => {
    const file = await inShell(world, 'lion "$@" > answer.$$ && cat answer.$$', [...args, '--machine']);
    const slow = await inShell(world, '{ lion "$@"; echo "exit $?" >&2; } | (sleep 1; cat)', [
      ...args,
      '--machine',
    ]);
    expect(slow.stderr).toBe('exit 0\n');
    expect(file.stdout.length).toBeGreaterThan(Math.max(least, PIPE_BYTES));
    expect(slow.stdout.length).toBe(file.stdout.length);
    expect(slow.stdout.equals(file.stdout)).toBe(true);
    const text = slow.stdout.toString('utf8');
    expect(text.indexOf('\n')).toBe(text.length - 1);
    JSON.parse(text);
  });

  it('the list holds every run and says that there is no more', async () => {
    const { stdout } = await inShell(world, 'lion job list --machine --limit 3000');
    const { jobs, truncated } = JSON.parse(stdout.toString('utf8')).data;
    expect([jobs.length, truncated]).toEqual([RUNS, false]);
  });

  it('the output holds the whole log', async () => {
    const { stdout } = await inShell(world, 'lion job output "$1" --machine --tail-chars 4000000', [LOGGED]);
    const { console } = JSON.parse(stdout.toString('utf8')).data;
    expect([console.truncated, console.value.endsWith('\u{1f600}\n')]).toEqual([false, true]);
    expect(Buffer.byteLength(console.value)).toBeGreaterThan(1_900_000);
  });

  it.concurrent.each(calls)(
    'a reader that has had enough of %s ends it quietly',
    async (_what, _least, args) => {
      const run = await inShell(world, '{ lion "$@"; } | head -c 10', [...args, '--machine']);
      expect([run.stdout.length, run.stderr]).toEqual([10, '']);
    },
  );

  it('the human list is complete through a slow pipe too, and quiet when its reader goes', async () => {
    const slow = await inShell(world, 'lion job list --limit 3000 | (sleep 1; cat)');
    expect(slow.stdout.toString('utf8').split('\n').length).toBe(RUNS + 2);
    const cut = await inShell(world, 'lion job list --limit 3000 | head -c 10');
    expect([cut.stdout.length, cut.stderr]).toEqual([10, '']);
  });
});
