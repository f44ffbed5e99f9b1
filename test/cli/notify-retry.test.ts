import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claimNotice } from '../support/claimed-notice.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { layNotice, SORTS, type Sort } from '../support/notices-of-all-sorts.ts';
import { layAdvisory, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import type { World } from '../support/world.ts';

const RUN = runIdOf(1);

interface Result {
  readonly run_id: string;
  readonly result: string;
  readonly why: string | null;
}

async function retry(world: World, ...args: string[]): Promise<Result[]> {
  return (await askData(world, ['notify', 'retry', ...args])).results;
}

/** The sorts that were sent by a call, each run with a notifier of its own record. */
async function sortsSent(...args: string[]): Promise<Sort[]> {
  return inWorld(async (world) => {
    const notifier = makeNotifier(world, 'notifier.py', '', ['{run_id}']);
    SORTS.forEach((sort, n) => {
      layNotice(world, n, sort, notifier.command);
    });
    const results = await retry(world, ...args);
    expect(results.filter(({ result }) => result !== 'delivered')).toEqual([]);
    const sent = notifier.calls().map((call) => call.args[0]);
    expect(results.map((result) => result.run_id).sort()).toEqual(sent.sort());
    return SORTS.filter((_sort, n) => sent.includes(runIdOf(n)));
  });
}

describe('lion notify retry', () => {
  it.each(SORTS)('sends the notice of a named run that is %s', async (sort) => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      const run = layNotice(world, 1, sort, notifier.command);
      const before = noticeOf(run).attempts ?? 0;
      const [result] = await retry(world, RUN);
      expect(notifier.calls()).toMatchObject([{ args: [RUN, 'completed', `the ${sort} one`] }]);
      const { delivery_id } = JSON.parse(notifier.calls()[0]?.stdin ?? '');
      expect(result).toEqual({
        run_id: RUN,
        result: 'delivered',
        why: null,
        delivery_id,
        attempts: before + 1,
      });
      expect(noticeOf(run)).toMatchObject({ ok: true, owed: false, delivery_id, attempts: before + 1 });
    });
  });

  it('keeps the id of a delivery when it is repeated', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      layNotice(world, 1, 'owed', notifier.command);
      await retry(world, RUN);
      await retry(world, RUN);
      const told = notifier.calls().map(({ stdin }) => JSON.parse(stdin));
      expect(told.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(new Set(told.map((each) => each.delivery_id)).size).toBe(1);
    });
  });

  it('with --all sends what is owed, retrying, parked or failed, and nothing that may have arrived', async () => {
    expect(await sortsSent('--all')).toEqual(['owed', 'retrying', 'parked', 'failed']);
  });

  it.each([
    ['parked', ['parked']],
    ['failed', ['retrying', 'parked', 'failed']],
    ['unknown', ['unknown']],
    ['skipped', ['skipped']],
  ] as const)('with --all --state %s sends those alone', async (state, sorts) => {
    expect(await sortsSent('--all', '--state', state)).toEqual(sorts);
  });

  it('has at most eight notifiers at work, and sends all of them', async () => {
    await inWorld(async (world) => {
      const marks = join(world.root, 'marks');
      mkdirSync(marks);
      const body = `
mark = os.path.join(${JSON.stringify(marks)}, sys.argv[1])
open(mark, "w").close()
seen = len(os.listdir(${JSON.stringify(marks)}))
time.sleep(0.3)
os.unlink(mark)
sys.exit(0 if seen <= 8 else 9)`;
      const notifier = makeNotifier(world, 'notifier.py', body);
      for (let n = 0; n < 20; n++) layNotice(world, n, 'owed', notifier.command);
      const results = await retry(world, '--all');
      expect(results.map(({ result }) => result)).toEqual(Array(20).fill('delivered'));
      expect(results.map((each) => each.run_id)).toEqual(
        Array.from({ length: 20 }, (_, n) => runIdOf(19 - n)),
      );
      const starts = notifier.calls().map(({ at }) => at);
      expect(starts.filter((at) => at < Math.min(...starts) + 0.25).length).toBeGreaterThan(1);
    });
  });

  it('leaves alone what somebody is sending, and says so where it was named', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      const run = layNotice(world, 1, 'owed', notifier.command);
      await claimNotice(world, run);
      const before = run.text();
      expect(await retry(world, RUN)).toMatchObject([
        { result: 'nothing', why: 'claimed_elsewhere', attempts: 1 },
      ]);
      expect(await retry(world, '--all', '--state', 'unknown')).toEqual([]);
      expect([run.text(), notifier.calls()]).toEqual([before, []]);
    });
  });

  it('says what became of each, in the order they were named, and exits 0 only if all were delivered', async () => {
    await inWorld(async (world) => {
      const good = makeNotifier(world, 'good.py');
      const bad = makeNotifier(world, 'bad.py', 'print("connection refused"); sys.exit(2)');
      layNotice(world, 1, 'owed', good.command);
      layNotice(world, 2, 'owed', bad.command);
      layNotice(world, 3, 'owed', '["/nowhere/it"]');
      layNotice(world, 4, 'owed');
      layAdvisory(world, runIdOf(5), { notify_command: good.command });
      const lost = layNotice(world, 6, 'owed', good.command);
      writeFileSync(lost.recordFile, '{');
      layNotice(world, 7, 'owed', 'no JSON');
      const ids = [5, 1, 2, 3, 4, 6, 7].map(runIdOf);
      const all = await runLion(['notify', 'retry', ...ids], world);
      expect(all.exitCode).toBe(1);
      expect(all.stdout.split('\n')).toEqual([
        `${runIdOf(5)}  not sent: no_end`,
        `${runIdOf(1)}  delivered`,
        `${runIdOf(2)}  failed: connection_failed`,
        `${runIdOf(3)}  failed: FileNotFoundError`,
        `${runIdOf(4)}  not sent: no_notifier`,
        `${runIdOf(6)}  not sent: record_unreadable`,
        `${runIdOf(7)}  failed: delivery_command_is_not_valid_json`,
        '',
      ]);
      expect((await runLion(['notify', 'retry', runIdOf(1)], world)).exitCode).toBe(0);
      expect((await runLion(['notify', 'retry', '--all', '--state', 'skipped'], world)).stdout).toBe(
        'Nothing to send.\n',
      );
    });
  });

  it('starts no notifier whose attempt cannot be recorded', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      const run = layNotice(world, 1, 'owed', notifier.command);
      mkdirSync(join(run.dir, 'job.lock'));
      expect(await retry(world, RUN)).toMatchObject([{ result: 'refused', why: 'attempt_not_recorded' }]);
      expect(notifier.calls()).toEqual([]);
    });
  });

  it('sends nothing at all where an id is wrong', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier.py');
      for (const n of [1, 2]) layNotice(world, n, 'owed', notifier.command);
      for (const [id, kind] of [
        ['nobody', 'not_found'],
        ['2026', 'conflict'],
        ['a/b', 'invalid_input'],
      ] as const) {
        expect((await ask(world, ['notify', 'retry', RUN, id])).error?.kind).toBe(kind);
      }
      expect(notifier.calls()).toEqual([]);
      expect(await retry(world, RUN, RUN, RUN.slice(-6))).toHaveLength(1);
    });
  });

  it.each([
    [[]],
    [['--all', RUN]],
    [['--state', 'owed', RUN]],
    [['--all', '--state', 'delivered']],
    [['--all', '--state', 'lost']],
  ])('does not take %j', async (args) => {
    await inWorld(async (world) => {
      layNotice(world, 1, 'owed');
      expect((await ask(world, ['notify', 'retry', ...args])).error?.kind).toBe('invalid_input');
      expect((await runLion(['notify', 'retry', ...args], world)).exitCode).toBe(2);
    });
  });

  it('interrupted, leaves what it had not begun as it was, and says so', async () => {
    await inWorld(async (world) => {
      const [pidFile, once] = [join(world.root, 'pid'), join(world.root, 'once')];
      const body = `
import signal
try:
    os.mkdir(${JSON.stringify(once)})
    os.kill(int(open(${JSON.stringify(pidFile)}).read()), signal.SIGINT)
except FileExistsError:
    pass
time.sleep(60)`;
      const notifier = makeNotifier(world, 'notifier.py', body);
      const runs = Array.from({ length: 12 }, (_, n) => layNotice(world, n, 'owed', notifier.command));
      const through = ['/bin/sh', '-c', `echo $$ > '${pidFile}'; exec "$0" "$@"`];
      const { stdout, exitCode } = await runLion(['notify', 'retry', '--all'], { ...world, through });
      expect(exitCode).toBe(130);
      const untouched = runs.filter((run) => noticeOf(run).attempts === undefined);
      expect(untouched.map(noticeOf)).toEqual(Array(4).fill({ attempted: false, owed: true }));
      expect(stdout.match(/not sent: interrupted\n/g)).toHaveLength(4);
      expect(stdout.match(/ unknown: delivery_outcome_unknown\n/g)).toHaveLength(8);
    });
  });
});
