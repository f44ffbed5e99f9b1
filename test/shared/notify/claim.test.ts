import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { parseJson } from '../../../shared/json/parse.ts';
import { type Json, toJson } from '../../../shared/json/value.ts';
import {
  type Claim,
  claimAttempt,
  claimStands,
  deliveryIdOf,
  settleClaim,
  stillOurs,
} from '../../../shared/notify/claim.ts';
import { readRecord } from '../../../shared/record/read.ts';
import { inWorld } from '../../support/in-world.ts';
import type { LaidRun } from '../../support/lay-run.ts';
import { startSleeper, startZombie } from '../../support/processes.ts';
import { startPythonWriter } from '../../support/python-writer.ts';
import { jsonObject, layEnded, noticeOf, replaceRecord, runIdOf } from '../../support/runs-of-all-sorts.ts';
import type { World } from '../../support/world.ts';

const RUN = runIdOf(1);
const UNSENT = '{"attempted": false, "owed": true}';
const CLAIM_MS = 45_000;

async function engineIn(world: World): Promise<Engine> {
  return (await openEngine(world.env, world.cwd, new AbortController().signal)).engine;
}

function later(engine: Engine, ms: number): Engine {
  return { ...engine, now: () => Date.now() + ms };
}

function layOwed(world: World): LaidRun {
  return layEnded(world, RUN, 'failed', { notify_delivery: jsonObject({ attempted: false, owed: true }) });
}

function seenIn(run: LaidRun): Json | undefined {
  const read = readRecord(run.dir);
  return read.state === 'ok' ? read.object.value.get('notify_delivery') : undefined;
}

async function claimIn(engine: Engine, run: LaidRun): Promise<Claim> {
  const claimed = await claimAttempt(engine, RUN, seenIn(run));
  if (claimed.kind !== 'claimed') throw new Error(`not claimed: ${claimed.kind}`);
  return claimed.claim;
}

const DONE = toJson({ attempted: true, ok: true, exit_code: 0 });

describe('a claim', () => {
  it('writes ahead that an attempt has begun, with who made it and until when it stands', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const claim = await claimIn(engine, run);
      expect(noticeOf(run)).toMatchObject({
        attempted: true,
        ok: null,
        exit_code: null,
        error: 'delivery_outcome_unknown',
        command: null,
        owed: true,
        delivery_id: claim.deliveryId,
        attempts: 1,
        claim: { nonce: claim.nonce, pid: process.pid, start_ticks: expect.any(Number) },
      });
      expect(Math.abs(claim.deadlineMs - Date.now() - CLAIM_MS)).toBeLessThan(10_000);
      expect(run.record().get('finished_at')).not.toBeNull();
    });
  });

  it('of two that saw the same notice one is had, however close they come', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const seen = seenIn(run);
      const takers = await Promise.all(Array.from({ length: 10 }, () => claimAttempt(engine, RUN, seen)));
      expect(takers.map((taker) => taker.kind).sort()).toEqual(['claimed', ...Array(9).fill('lost')]);
      expect(noticeOf(run).attempts).toBe(1);
    });
  });

  it('is lost where the notice is another than the one it was decided on', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      for (const seen of ['{"attempted": false}', '{"attempted": false, "owed": true, "x": 1}', 'null'])
        expect((await claimAttempt(engine, RUN, parseJson(seen))).kind).toBe('lost');
      const before = run.text();
      const python = await startPythonWriter();
      world.onDispose(python.stop);
      const seen = seenIn(run);
      await python.ask({ do: 'merge', run_dir: run.dir, set: { notify_delivery: { attempted: true } } });
      expect((await claimAttempt(engine, RUN, seen)).kind).toBe('lost');
      expect(noticeOf(run)).toEqual({ attempted: true });
      expect(before).not.toBe(run.text());
    });
  });

  it('is had where the notice is the same to Python, whatever its order', async () => {
    await inWorld(async (world) => {
      const [engine] = [await engineIn(world), layOwed(world)];
      const seen = parseJson('{"owed": 1, "attempted": 0.0}');
      expect((await claimAttempt(engine, RUN, seen)).kind).toBe('claimed');
    });
  });

  it('is lost on a run that has no end, and on a record that names another', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      replaceRecord(run, { finished_at: null });
      expect((await claimAttempt(engine, RUN, parseJson(UNSENT))).kind).toBe('lost');
      replaceRecord(run, { finished_at: '2026-08-01', run_id: 'another' });
      expect((await claimAttempt(engine, RUN, parseJson(UNSENT))).kind).toBe('lost');
      expect(noticeOf(run)).toEqual({ attempted: false, owed: true });
    });
  });

  it('that cannot be written is a refusal, and the notice is as it was', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const python = await startPythonWriter();
      world.onDispose(python.stop);
      await python.ask({ do: 'hold', run_dirs: [run.dir] });
      const stopping = { ...engine, signal: AbortSignal.timeout(200) };
      const claimed = await claimAttempt(stopping, RUN, seenIn(run));
      expect(claimed).toMatchObject({ kind: 'refused', refusal: { code: 'lock_unavailable' } });
      expect(noticeOf(run)).toEqual({ attempted: false, owed: true });
      await python.ask({ do: 'release' });
    });
  });

  it('counts the attempts and keeps the id of the delivery over them', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const first = await claimIn(engine, run);
      const failed = toJson({ attempted: true, ok: false, attempts: 1, owed: true });
      expect(await settleClaim(engine, RUN, first, failed)).toBe('settled');
      const second = await claimIn(engine, run);
      expect([second.attempt, second.deliveryId]).toEqual([2, first.deliveryId]);
      expect(second.nonce).not.toBe(first.nonce);
    });
  });
});

describe('a claim stands', () => {
  it('until its deadline and not a millisecond longer', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const claim = await claimIn(engine, run);
      const at = (ms: number): boolean => claimStands({ ...engine, now: () => ms }, seenIn(run));
      expect([at(claim.deadlineMs - 1), at(claim.deadlineMs), at(claim.deadlineMs + 1)]).toEqual([
        true,
        false,
        false,
      ]);
      expect((await claimAttempt(engine, RUN, seenIn(run))).kind).toBe('lost');
      expect((await claimAttempt(later(engine, CLAIM_MS + 1_000), RUN, seenIn(run))).kind).toBe('claimed');
      expect(noticeOf(run).attempts).toBe(2);
    });
  });

  it('while its owner lives: not once that process is gone, a zombie, or another with its number', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      await claimIn(engine, run);
      const written = noticeOf(run);
      const standsFor = (owner: Record<string, unknown>): boolean =>
        claimStands(engine, toJson({ ...written, claim: { ...written.claim, ...owner } }));
      const sleeper = await startSleeper(null);
      const zombie = await startZombie(null);
      world.onDispose(zombie.stop);
      const owner = { pid: sleeper.pid, start_ticks: sleeper.ticks };
      expect(standsFor(owner)).toBe(true);
      expect(standsFor({ ...owner, start_ticks: sleeper.ticks - 1 })).toBe(false);
      expect(standsFor({ pid: zombie.pid, start_ticks: zombie.ticks })).toBe(false);
      await sleeper.stop();
      expect(standsFor(owner)).toBe(false);
    });
  });

  it('to its deadline where its owner cannot be looked at: another boot, another namespace, no pid', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const claim = await claimIn(engine, run);
      const written = noticeOf(run);
      const elsewhere = [
        { boot_id: 'another' },
        { boot_id: null },
        { pid_namespace: 1 },
        { pid: null },
        { pid: '5' },
      ];
      for (const owner of elsewhere) {
        const delivery = toJson({ ...written, claim: { ...written.claim, pid: 1_999_999_999, ...owner } });
        expect([owner, claimStands(engine, delivery)]).toEqual([owner, true]);
        expect(claimStands({ ...engine, now: () => claim.deadlineMs }, delivery)).toBe(false);
      }
    });
  });

  it.each([
    'null',
    '"x"',
    '[]',
    '{}',
    '{"claim": null}',
    '{"claim": 5}',
    '{"claim": {}}',
    '{"claim": {"deadline": "soon"}}',
    '{"claim": {"deadline": 99999999999}}',
  ])('never on a notice that holds none: %s', async (text) => {
    await inWorld(async (world) => {
      expect(claimStands(await engineIn(world), parseJson(text))).toBe(false);
    });
  });
});

describe('the result of an attempt', () => {
  it('lands while its nonce stands, whole', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const claim = await claimIn(engine, run);
      expect(stillOurs(engine, seenIn(run), claim)).toBe(true);
      expect(await settleClaim(engine, RUN, claim, DONE)).toBe('settled');
      expect(noticeOf(run)).toEqual({ attempted: true, ok: true, exit_code: 0 });
    });
  });

  it('does not land once another claim has superseded it', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const first = await claimIn(engine, run);
      const second = await claimIn(later(engine, CLAIM_MS + 1_000), run);
      expect(stillOurs(engine, seenIn(run), first)).toBe(false);
      const before = run.text();
      expect(await settleClaim(engine, RUN, first, DONE)).toBe('superseded');
      expect(run.text()).toBe(before);
      expect(await settleClaim(engine, RUN, second, DONE)).toBe('settled');
    });
  });

  it('does not land over what a Python program wrote meanwhile', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const claim = await claimIn(engine, run);
      replaceRecord(run, { notify_delivery: jsonObject({ attempted: true, ok: true }) });
      const before = run.text();
      expect(await settleClaim(engine, RUN, claim, toJson({ attempted: true, ok: false }))).toBe(
        'superseded',
      );
      expect(run.text()).toBe(before);
    });
  });

  it('is not to be begun once the deadline has passed, though nobody else has claimed', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const claim = await claimIn(engine, run);
      expect(stillOurs({ ...engine, now: () => claim.deadlineMs }, seenIn(run), claim)).toBe(false);
    });
  });

  it('leaves the end and every other field alone', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layOwed(world)];
      const rest = (): unknown => [...run.record()].filter(([key]) => key !== 'notify_delivery');
      const before = rest();
      await settleClaim(engine, RUN, await claimIn(engine, run), DONE);
      expect(rest()).toEqual(before);
    });
  });
});

describe('the id of a delivery', () => {
  const idOf = (runId: string, text: string): string => deliveryIdOf(runId, parseJson(text) as never);

  it('is the same for the same run and end, and another for any other', () => {
    const one = idOf('a', '{"finished_at": "2026-08-01T00:00:00+00:00"}');
    expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(idOf('a', '{"x": 1, "finished_at": "2026-08-01T00:00:00+00:00"}')).toBe(one);
    const others = [
      idOf('b', '{"finished_at": "2026-08-01T00:00:00+00:00"}'),
      idOf('a', '{"finished_at": "2026-08-01T00:00:01+00:00"}'),
      idOf('a', '{"finished_at": 1790000000}'),
      idOf('a', '{"finished_at": 1790000000.5}'),
      idOf('a', '{"finished_at": true}'),
    ];
    expect(new Set([one, ...others]).size).toBe(6);
  });
});
