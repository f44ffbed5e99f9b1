import { waitData } from '../../shared/contract/wait-view.ts';
import { type Engine, openEngine } from '../../shared/engine.ts';
import { parseJson } from '../../shared/json/parse.ts';
import { type Json, type Jsonable, type JsonObject, toJson } from '../../shared/json/value.ts';
import { LINE_STYLE, RECORD_STYLE, writeJson } from '../../shared/json/write.ts';
import { classifyFailure } from '../../shared/notify/failure-class.ts';
import { type Mutation, mutateRecord } from '../../shared/record/mutate.ts';
import { readRecord } from '../../shared/record/read.ts';
import { probedOf } from '../../shared/run/admit.ts';
import { readFailureCause } from '../../shared/run/failure-cause.ts';
import { markTerminal } from '../../shared/run/mark-terminal.ts';
import { reapOrphan } from '../../shared/run/reap.ts';
import { waitForRuns } from '../../shared/run/wait.ts';
import { runDirOf } from '../../shared/store/home.ts';
import type { EngineCalls, EngineWorld, WriterAnswer } from './engine-calls.ts';

const LOCK_WAIT_MS = 5_000;

async function engineIn(world: EngineWorld): Promise<Engine> {
  return (await openEngine(world.env, world.cwd, new AbortController().signal)).engine;
}

/** The engine as the replay calls it. */
export const engine: EngineCalls = {
  async markTerminal(world, runId, status, reason) {
    const report = { status, reasonCode: reason ?? null, exitCode: null, exitSignal: null, cause: null };
    return writerAnswer(
      await markTerminal(await engineIn(world), runId, { ...report, owed: { owed: false } }),
    );
  },
  recordNotify: (world, runId, deliveryText) => setField(world, runId, 'notify_delivery', deliveryText),
  beginNotify: (world, runId) => setField(world, runId, 'notify_delivery', '{"attempted": true}'),
  recordCause: (world, runId, causeText) => setField(world, runId, 'failure_cause', causeText),
  async reap(world, runId, finding, observedAt) {
    const engine = await engineIn(world);
    const read = readRecord(runDirOf(engine.home, runId));
    const result = await reapOrphan(engine, runId, {
      finding,
      observedAt,
      probed: probedOf(read.state === 'ok' ? read.object.value : new Map()),
      survivors: [],
      owed: { owed: false },
      lockWaitMs: LOCK_WAIT_MS,
    });
    return { won_transition: result.wonTransition, recordText: textOf(result.record), reason: result.reason };
  },
  classify: async (text) => ({ failure_class: classifyFailure(text) }),
  async cause(_world, path) {
    const cause = readFailureCause(path);
    return { cause: cause === null ? null : JSON.parse(writeJson(cause, LINE_STYLE)) };
  },
  async wait(world, ids, options) {
    const maxWait = {
      requested: (options.maxWait ?? 60) as Jsonable,
      effective: Number(options.maxWait ?? 60),
    };
    const poll = {
      requested: (options.pollInterval ?? 1) as Jsonable,
      effective: Number(options.pollInterval ?? 1),
    };
    const engine = await engineIn(world);
    const result = await waitForRuns(engine, {
      ids,
      maxWaitS: maxWait.effective,
      pollIntervalS: poll.effective,
      any: false,
    });
    return JSON.parse(writeJson(toJson(waitData(engine, result, maxWait, poll)), LINE_STYLE));
  },
};

async function setField(world: EngineWorld, runId: string, key: string, text: string): Promise<WriterAnswer> {
  const engine = await engineIn(world);
  const value: Json = parseJson(text);
  const options = { waitMs: LOCK_WAIT_MS, signal: engine.signal };
  return writerAnswer(
    await mutateRecord(runDirOf(engine.home, runId), runId, options, () => ({
      verdict: null,
      set: new Map([[key, value]]),
    })),
  );
}

function writerAnswer(mutation: Mutation<unknown>): WriterAnswer {
  switch (mutation.kind) {
    case 'done':
    case 'foreign':
      return { recordText: textOf(mutation.record), state: 'ok', refused: false };
    case 'no_record':
      return { recordText: null, state: mutation.state, refused: false };
    case 'refused':
      return { recordText: null, state: mutation.refusal.code, refused: true };
  }
}

function textOf(record: JsonObject | null): string | null {
  return record === null ? null : writeJson(record, RECORD_STYLE);
}
