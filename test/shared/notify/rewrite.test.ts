import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Engine, openEngine } from '../../../shared/engine.ts';
import { parseJson } from '../../../shared/json/parse.ts';
import type { Json, JsonObject } from '../../../shared/json/value.ts';
import { LINE_STYLE, writeJson } from '../../../shared/json/write.ts';
import { claimAttempt } from '../../../shared/notify/claim.ts';
import {
  adoptedDelivery,
  parkedDelivery,
  rewriteDelivery,
  skippedDelivery,
} from '../../../shared/notify/rewrite.ts';
import { readRecord } from '../../../shared/record/read.ts';
import { inWorld } from '../../support/in-world.ts';
import { type LaidRun, layRun } from '../../support/lay-run.ts';
import { layEnded, replaceRecord, runIdOf } from '../../support/runs-of-all-sorts.ts';
import type { World } from '../../support/world.ts';

const RUN = runIdOf(1);
const AT = Date.UTC(2026, 7, 1);
/** What an object of the language would move, swallow or round. */
const FOREIGN = '"10": 1, "__proto__": {"x": 1}, "2": 12345678901234567890123, "constructor": 1.0, "f": 1e2';
const KEPT = FOREIGN.replaceAll(': ', ':').replaceAll(', ', ',');

function text(delivery: JsonObject): string {
  return writeJson(delivery, LINE_STYLE);
}

describe('what is known of a notice stays when', () => {
  it.each<[string, string | undefined, (seen: Json | undefined) => JsonObject, string]>([
    [
      'it is parked: what was due and who was sending goes',
      `{${FOREIGN}, "owed": true, "claim": {"nonce": "n"}, "next_at": "t", "attempts": 2, "retry": {"next_at": "t"}}`,
      (seen) => parkedDelivery(seen, 'expired', 'h'),
      `{${KEPT},"owed":true,"attempts":2,"retry":{"parked":{"reason":"expired","config_hash":"h"}}}`,
    ],
    [
      'it is taken over: a failure stays a failure, and is due',
      `{"ok": false, ${FOREIGN}, "attempted": true}`,
      (seen) => adoptedDelivery(seen, AT),
      `{"ok":false,${KEPT},"attempted":true,"owed":true,"retry":{"next_at":"2026-08-01T00:00:00+00:00"}}`,
    ],
    [
      'a rule keeps quiet about it: nothing is due any more',
      `{"attempted": false, ${FOREIGN}, "owed": true, "next_at": "t", "retry": {"next_at": "t"}}`,
      skippedDelivery,
      `{"attempted":false,${KEPT},"owed":false,"skipped":"by_rule"}`,
    ],
    ['there was nothing', undefined, skippedDelivery, '{"attempted":false,"owed":false,"skipped":"by_rule"}'],
    [
      'there was null',
      'null',
      (seen) => adoptedDelivery(seen, AT),
      '{"attempted":false,"owed":true,"retry":{"next_at":"2026-08-01T00:00:00+00:00"}}',
    ],
  ])('%s', (_what, before, change, after) => {
    const seen = before === undefined ? undefined : parseJson(before);
    const was = seen === undefined ? '' : writeJson(seen, LINE_STYLE);
    expect(text(change(seen))).toBe(after);
    expect(seen === undefined ? '' : writeJson(seen, LINE_STYLE), 'the one it was made from').toBe(was);
  });
});

async function engineIn(world: World): Promise<Engine> {
  return (await openEngine(world.env, world.cwd, new AbortController().signal)).engine;
}

function seenIn(run: LaidRun): Json | undefined {
  const read = readRecord(run.dir);
  return read.state === 'ok' ? read.object.value.get('notify_delivery') : undefined;
}

describe('a change that sends nothing', () => {
  it('keeps every byte of the record but the notice, and in that every member it does not mean', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'failed');
      const laid = `{\n  "10": 1,\n  "run_id": "${RUN}",\n  "__proto__": {"a": 1.0},\n  "finished_at": "2026-08-01T00:00:00+00:00",\n  "notify_delivery": {"attempted": false, ${FOREIGN}},\n  "2": 9007199254740993\n}`;
      writeFileSync(run.recordFile, laid);
      const seen = seenIn(run);
      expect(await rewriteDelivery(await engineIn(world), RUN, seen, skippedDelivery(seen))).toBe('written');
      const [head = '', tail = ''] = laid.split(`{"attempted": false, ${FOREIGN}}`);
      const written = run.text();
      expect([written.slice(0, head.length), written.slice(-tail.length)]).toEqual([head, tail]);
      expect(text(seenIn(run) as JsonObject)).toBe(
        `{"attempted":false,${KEPT},"owed":false,"skipped":"by_rule"}`,
      );
    });
  });

  it.each<[string, Record<string, Json>]>([
    ['another writer has attempted it', { notify_delivery: parseJson('{"attempted": true, "ok": true}') }],
    ['another writer put a member there', { notify_delivery: parseJson('{"attempted": false, "x": 1}') }],
    ['the record has no end any more', { finished_at: null }],
  ])('is not made where %s since', async (_what, meanwhile) => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'failed');
      const seen = seenIn(run);
      replaceRecord(run, meanwhile);
      const before = run.text();
      const rewrite = await rewriteDelivery(await engineIn(world), RUN, seen, skippedDelivery(seen));
      expect([rewrite, run.text()]).toEqual(['changed_meanwhile', before]);
    });
  });

  it('is not made over a claim that stands', async () => {
    await inWorld(async (world) => {
      const [engine, run] = [await engineIn(world), layEnded(world, RUN, 'failed')];
      await claimAttempt(engine, RUN, seenIn(run));
      const [before, seen] = [run.text(), seenIn(run)];
      const rewrite = await rewriteDelivery(engine, RUN, seen, parkedDelivery(seen, 'expired', ''));
      expect([rewrite, run.text()]).toEqual(['changed_meanwhile', before]);
    });
  });

  it('is not made for a run that has not ended', async () => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      const before = run.text();
      const rewrite = await rewriteDelivery(
        await engineIn(world),
        RUN,
        undefined,
        skippedDelivery(undefined),
      );
      expect([rewrite, run.text()]).toEqual(['changed_meanwhile', before]);
    });
  });
});
