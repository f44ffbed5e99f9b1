import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { identityOf, layRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { startSleeper } from '../support/processes.ts';
import {
  jsonObject,
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  layPreparing,
  laySpawnFailed,
  runIdOf,
  secondsAgo,
} from '../support/runs-of-all-sorts.ts';
import { lionOnTerminal } from '../support/terminal.ts';

const SGR = /\u001b\[[0-9;]*m/g;
const RUN = runIdOf(1);

describe('lion job status for a person', () => {
  it('says first what became of it, then how that is known, then the end of its log', async () => {
    await inWorld(async (world) => {
      const run = await layGone(world, RUN, { label: 'tidy the inbox' });
      writeFileSync(
        join(run.dir, 'console.log'),
        Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join(''),
      );
      const { stdout, stderr, exitCode } = await runLion(['job', 'status', RUN], world);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^run +${RUN}\nlabel +tidy the inbox\n`));
      expect(stdout).toMatch(/\nstatus +exited · indeterminate\n/);
      expect(stdout).toMatch(/\nreason +process_gone_without_outcome\n/);
      expect(stdout).toMatch(/\nended by +mcp_orphan_reaper\n/);
      expect(stdout).toContain('it may have succeeded');
      expect(stdout).toContain(`${run.dir}/job.json`);
      expect(stdout).toMatch(/line 20\n(.*\n)+ {2}line 29\n$/);
      expect(stdout).not.toContain('line 19');
    });
  });

  it('an end that was noticed and not reported is told as an upper bound, one that was reported is not', async () => {
    await inWorld(async (world) => {
      await layGone(world, RUN);
      layEnded(world, runIdOf(2), 'completed');
      expect((await runLion(['job', 'status', RUN], world)).stdout).toMatch(/\nended .*, at the latest\n/);
      expect((await runLion(['job', 'status', runIdOf(2)], world)).stdout).not.toContain('at the latest');
    });
  });

  it('on a terminal it is coloured, in a pipe or with NO_COLOR it is the same text without colour', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed', { submitted_at: null, finished_at: '2026-08-01' });
      const coloured = await lionOnTerminal(world, ['job', 'status', RUN]);
      expect(coloured.screen).toMatch(SGR);
      const plain = await lionOnTerminal(world, ['job', 'status', RUN], { env: { NO_COLOR: '1' } });
      expect(plain.screen).not.toContain('\u001b');
      expect(coloured.screen.replace(SGR, '')).toBe(plain.screen);
      const { stdout } = await runLion(['job', 'status', RUN], world);
      expect(stdout).toBe(plain.screen);
    });
  });

  it.each(['a pipe', 'a terminal'])('text of others cannot steer %s', async (where) => {
    await inWorld(async (world) => {
      const text = HOSTILE_TEXT;
      const run = layEnded(world, RUN, text, {
        label: text,
        kind: text,
        reason_code: text,
        outcome: 'failed',
        terminal_source: text,
        submitted_at: text,
        finished_at: text,
        survivors: [text, jsonObject({ a: text })],
        late_report: jsonObject({ status: text }),
        notify_delivery: jsonObject({ attempted: true, ok: false, error: text, failure_class: text }),
      });
      writeFileSync(join(run.dir, 'console.log'), `${text}\n${text}`);
      mkdirSync(join(world.lionagiHome, 'runs', RUN), { recursive: true });
      writeFileSync(
        join(world.lionagiHome, 'runs', RUN, 'run.json'),
        JSON.stringify({ persistence_degraded_reason: text }),
      );
      const seen =
        where === 'a pipe'
          ? (await runLion(['job', 'status', RUN], world)).stdout
          : (await lionOnTerminal(world, ['job', 'status', RUN])).screen.replace(SGR, '');
      expect(hostileBits(seen.replaceAll('\t', ''))).toEqual([]);
      expect(seen).toContain('\\x1b[31mred');
      // What stands in a field stays in its line.
      expect(seen.split('\n').filter((line) => line.startsWith('label'))).toHaveLength(1);
    });
  });

  it('a refusal is words on stderr with status 2, nothing on stdout, and cannot steer a terminal either', async () => {
    await inWorld(async (world) => {
      for (const id of ['20990101T000000-000000', '../x', HOSTILE_TEXT.replaceAll('\0', '')]) {
        const run = await runLion(['job', 'status', id], world);
        expect([run.exitCode, run.stdout]).toEqual([2, '']);
        expect(run.stderr).toMatch(/^lion: ./);
        expect(hostileBits(run.stderr.replaceAll('\t', ''))).toEqual([]);
      }
    });
  });

  it('a damaged record is unavailable: status 1, and no claim that there is no such run', async () => {
    await inWorld(async (world) => {
      const run = layAdvisory(world, RUN);
      writeFileSync(run.recordFile, Buffer.alloc(100));
      const { exitCode, stdout, stderr } = await runLion(['job', 'status', RUN], world);
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(stderr).not.toContain('no job');
    });
  });

  it('asks nothing: it ends by itself on a terminal nobody types at', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      const { exitCode, screen } = await lionOnTerminal(world, ['job', 'status', RUN]);
      expect(exitCode).toBe(0);
      expect(screen.replace(SGR, '')).toMatch(/\nstatus +running · not ended\n/);
    });
  });
});

describe('a run is named by its id, or by what only it begins or ends with', () => {
  const shown = async (world: Parameters<typeof askData>[0], id: string): Promise<string> =>
    (await askData(world, ['job', 'status', '--', id])).run_id;

  it('a prefix and a suffix that one run has are that run', async () => {
    await inWorld(async (world) => {
      layEnded(world, '20260801T120001-aaaaaa', 'completed');
      layEnded(world, '20260802T120001-bbbbbb', 'completed');
      expect(await shown(world, '20260801')).toBe('20260801T120001-aaaaaa');
      expect(await shown(world, '20260802T12')).toBe('20260802T120001-bbbbbb');
      expect(await shown(world, 'bb')).toBe('20260802T120001-bbbbbb');
      expect(await shown(world, '-aaaaaa')).toBe('20260801T120001-aaaaaa');
    });
  });

  it('what stands in the middle of an id names nothing', async () => {
    await inWorld(async (world) => {
      layEnded(world, '20260801T120001-aaaaaa', 'completed');
      expect((await ask(world, ['job', 'status', '0801T1200'])).error?.kind).toBe('not_found');
    });
  });

  it('an id is itself, though it is another run\u2019s beginning', async () => {
    await inWorld(async (world) => {
      layEnded(world, 'run', 'completed');
      layEnded(world, 'run-2', 'failed');
      layEnded(world, 'other-run', 'failed');
      expect(await shown(world, 'run')).toBe('run');
      expect(await shown(world, 'run-')).toBe('run-2');
    });
  });

  it('what several begin or end with is a conflict that names them', async () => {
    await inWorld(async (world) => {
      for (const id of ['20260801T120001-aaaaaa', '20260801T120002-bbbbbb']) layEnded(world, id, 'completed');
      const { error } = await ask(world, ['job', 'status', '2026']);
      expect(error?.kind).toBe('conflict');
      expect(error?.detail.candidates.sort()).toEqual(['20260801T120001-aaaaaa', '20260801T120002-bbbbbb']);
      const { exitCode, stderr, stdout } = await runLion(['job', 'status', '2026'], world);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain('20260801T120002-bbbbbb');
    });
  });

  it('a reservation is no run, so it does not make a beginning ambiguous', async () => {
    await inWorld(async (world) => {
      layEnded(world, '20260801T120001-aaaaaa', 'completed');
      mkdirSync(join(world.jobs, '20260801T120002-bbbbbb'));
      expect(await shown(world, '20260801')).toBe('20260801T120001-aaaaaa');
    });
  });

  it('no text leads out of the store', async () => {
    await inWorld(async (world) => {
      const secret = join(world.root, 'elsewhere');
      mkdirSync(secret);
      writeFileSync(join(secret, 'job.json'), '{"run_id": "elsewhere", "label": "not of this store"}');
      mkdirSync(world.jobs, { recursive: true });
      for (const id of ['../../../../elsewhere', `${secret}`, 'x/../../../../../elsewhere', '..'])
        expect((await ask(world, ['job', 'status', id])).error?.kind).toBe('invalid_input');
    });
  });
});

describe('ADR-0106 D4: status is opaque; terminal and outcome are derived from a recorded end', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['completed', 'succeeded', 'is the only word that succeeds'],
    ['completed_empty', 'failed', 'is an end and no success'],
    ['timed_out', 'failed', 'did not succeed'],
    ['cancelled', 'cancelled', 'was cancelled'],
    ['aborted', 'cancelled', 'was cancelled'],
    ['a word of next year', 'failed', 'is shown verbatim, and is no success'],
    ['COMPLETED', 'failed', 'is another word'],
    ['', 'failed', 'is a word too'],
  ];
  it.each(cases)('%j with an end: %s; it %s', async (status, outcome) => {
    await inWorld(async (world) => {
      layEnded(world, RUN, status);
      expect(await askData(world, ['job', 'status', RUN])).toMatchObject({ status, terminal: true, outcome });
    });
  });

  it('outcome is null exactly while terminal is false', async () => {
    await inWorld(async (world) => {
      layEnded(world, runIdOf(1), 'completed');
      await layGone(world, runIdOf(2));
      laySpawnFailed(world, runIdOf(3));
      await layLive(world, runIdOf(4));
      layAdvisory(world, runIdOf(5), { status: 'completed', outcome: 'succeeded' });
      layPreparing(world, runIdOf(6), 700);
      const told = [];
      for (let n = 1; n <= 6; n++) {
        const { terminal, outcome } = await askData(world, ['job', 'status', runIdOf(n)]);
        told.push([terminal, outcome]);
      }
      expect(told).toEqual([
        [true, 'succeeded'],
        [true, 'indeterminate'],
        [true, 'failed'],
        [false, null],
        [false, null],
        [false, null],
      ]);
    });
  });
});

describe('ADR-0106 D6: the durable record is the authority and liveness stands beside it', () => {
  it('a recorded end stands while its process still runs, and alive says that it does', async () => {
    await inWorld(async (world) => {
      const sleeper = await startSleeper(RUN);
      world.onDispose(sleeper.stop);
      const run = layEnded(world, RUN, 'completed', identityOf(sleeper));
      const before = run.text();
      const end = { terminal: true, outcome: 'succeeded', finished_at: run.record().get('finished_at') };
      expect(await askData(world, ['job', 'status', RUN])).toMatchObject({ ...end, alive: true });
      await sleeper.stop();
      expect(await askData(world, ['job', 'status', RUN])).toMatchObject({ ...end, alive: false });
      expect(run.text()).toBe(before);
    });
  });

  it('a pid that is merely not there to be asked about ends nothing', async () => {
    await inWorld(async (world) => {
      const run = layAdvisory(world, RUN);
      const before = run.text();
      expect(await askData(world, ['job', 'status', RUN])).toMatchObject({
        status: 'exited',
        terminal: false,
        outcome: null,
        alive: false,
        possibly_orphaned: true,
        pid_identity: 'unusable_pid',
        liveness_conclusion: 'unknown',
      });
      expect(run.text()).toBe(before);
    });
  });

  it('two calls in a row, with nothing kept between them, tell the same end', async () => {
    await inWorld(async (world) => {
      await layGone(world, RUN);
      const first = await askData(world, ['job', 'status', RUN]);
      const second = await askData(world, ['job', 'status', RUN]);
      expect(second).toEqual({ ...first, survivors: second.survivors });
      expect(first.terminal).toBe(true);
    });
  });
});

describe('ADR-0106 D7: nothing read from disk is a bare null or an empty list', () => {
  const WRAPPED = ['available', 'value', 'reason_code', 'detail'];
  const manifest = join('runs', RUN, 'run.json');

  it('console, run and notify_delivery carry whether they could be established', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      const data = await askData(world, ['job', 'status', RUN]);
      expect(Object.keys(data.run)).toEqual(WRAPPED);
      expect(Object.keys(data.notify_delivery)).toEqual(WRAPPED);
      expect(Object.keys(data.console).sort()).toEqual([...WRAPPED, 'truncated'].sort());
    });
  });

  it('a manifest that is not there is an established null; one that cannot be read is not', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      const told = async (): Promise<unknown> => (await askData(world, ['job', 'status', RUN])).run;
      expect(await told()).toEqual({ available: true, value: null, reason_code: null, detail: null });
      mkdirSync(join(world.lionagiHome, 'runs', RUN), { recursive: true });
      writeFileSync(join(world.lionagiHome, manifest), '{"half": ');
      expect(await told()).toMatchObject({ available: false, value: null, reason_code: 'malformed' });
      writeFileSync(join(world.lionagiHome, manifest), '{"state": "done"}');
      expect(await told()).toMatchObject({ available: true, value: { state: 'done' } });
    });
  });

  it('a log that is not there is none; one that is no file, or may not be read, is unknown', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'completed');
      const log = join(run.dir, 'console.log');
      const told = async (uid?: number): Promise<unknown> =>
        (await askData(world, ['job', 'status', RUN], uid === undefined ? {} : { uid })).console;
      expect(await told()).toMatchObject({ available: true, value: null, truncated: false });
      symlinkSync('/dev', log);
      expect(await told()).toMatchObject({ available: false, value: null, reason_code: 'unreadable' });
      const other = layEnded(world, runIdOf(2), 'completed', { log: join(world.root, 'kept-log') });
      writeFileSync(join(world.root, 'kept-log'), 'secret');
      chmodSync(join(world.root, 'kept-log'), 0);
      const uid = process.getuid?.() === 0 ? 65534 : undefined;
      chmodSync(world.lionagiHome, 0o755);
      const call = uid === undefined ? {} : { uid };
      const data = await askData(world, ['job', 'status', other.runId], call);
      expect(data.console).toMatchObject({ available: false, value: null, reason_code: 'unreadable' });
    });
  });

  it('a console that is the end of a longer one says that it is truncated', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'completed');
      writeFileSync(join(run.dir, 'console.log'), 'x'.repeat(4_000));
      expect((await askData(world, ['job', 'status', RUN])).console.truncated).toBe(false);
      writeFileSync(join(run.dir, 'console.log'), 'x'.repeat(4_001));
      const { console } = await askData(world, ['job', 'status', RUN]);
      expect([console.truncated, console.value.length]).toEqual([true, 4_000]);
    });
  });

  it('what is merely optional is not wrapped', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed', { label: null, submitted_at: secondsAgo(100) });
      const data = await askData(world, ['job', 'status', RUN]);
      expect([data.label, typeof data.submitted_at]).toEqual([null, 'string']);
    });
  });

  it('a gone run that could not be written is told with the refusal, not as one without news', async () => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN, {
        run_id: 'another',
        ...identityOf({ pid: 1_999_999_999, pgid: 1_999_999_999, createTime: 1_790_000_000.25 }),
      });
      const before = run.text();
      const data = await askData(world, ['job', 'status', RUN]);
      expect(data).toMatchObject({ terminal: false, refusal: { code: 'record_names_another_run' } });
      expect(run.text()).toBe(before);
    });
  });
});
