/**
 * One run, from its id to what is done about it: look (through the engine's one status path, which ends what is
 * provably gone), remember, decide, act. It is given an id and never an event; whatever made somebody think of
 * this run, the answer is on its disk.
 */
import { lstatSync } from 'node:fs';
import type { Engine } from '../shared/engine.ts';
import { errnoOf } from '../shared/errno.ts';
import { JsonNumber, type JsonObject } from '../shared/json/value.ts';
import { processClaimOf } from '../shared/liveness/claim.ts';
import { claimFacts } from '../shared/notify/claim.ts';
import { type NoticeStep, noticeStep } from '../shared/notify/next-step.ts';
import { resolveNotifier, textOf } from '../shared/notify/notifier.ts';
import { adoptedDelivery, parkedDelivery, type Rewrite, rewriteDelivery } from '../shared/notify/rewrite.ts';
import { readRecord } from '../shared/record/read.ts';
import { isOver } from '../shared/run/end.ts';
import { classify, ONE_RUN_BOUNDS, type RunStatus, recordOf, statusOfEnded } from '../shared/run/status.ts';
import { runDirOf } from '../shared/store/home.ts';
import { isRacy, recordSignatureOf, type Signed, sign } from '../shared/store/signature.ts';
import type { Asleep } from './asleep.ts';
import { type Action, decide, type Seen } from './decide.ts';
import type { Deliveries } from './deliveries.ts';
import type { Journal } from './journal.ts';
import type { Schedule } from './loop/schedule.ts';
import { countedOf, type NoticeCounts } from './notice-counts.ts';
import { noticeEvent } from './notice-event.ts';
import type { OpenRun, Roster } from './roster.ts';

/** All that looking after a run touches. */
export interface Parts {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly roster: Roster;
  readonly schedule: Schedule;
  readonly asleep: Asleep;
  readonly notices: NoticeCounts;
  readonly deliveries: Deliveries;
  readonly follow: (runId: string, watched: boolean) => void;
  readonly index: IndexSink;
}

/** Where rows go; without an index nowhere. */
export interface IndexSink {
  put(status: RunStatus, signature: string | null, settled: boolean): void;
  drop(runId: string): void;
}

/** A gone run whose processes partly live on is left alone this long: a late hook of its may still report. */
const SURVIVOR_GRACE_MS = 5_000;
/** After a change of ours that was refused, or found the record changed. */
const REWRITE_PAUSE_MS = 5_000;
/** An end of another writer that nobody is to be told of, as far as is configured now. */
const UNCONFIGURED_LOOK_MS = 60_000;

interface Look {
  readonly seen: Seen;
  readonly status: RunStatus | null;
  /** Of the record, taken before it was read. */
  readonly signature: string | null;
  /**
   * Of the process that had the recorded number, taken before it was looked at: one that takes the number over
   * while we look has another word, so the next probe looks again.
   */
  readonly token: string | null;
}

export async function reconcile(parts: Parts, runId: string): Promise<void> {
  const look = await lookAt(parts, runId);
  remember(parts, runId, look);
  for (const action of decide(look.seen, parts.engine.now())) await act(parts, runId, look, action);
}

/**
 * Is there nothing to do for this run right now? Its record is as it was read, and the process that a full look
 * found alive is still the one that has its number. Cheap: one stat and one look at the process, no child.
 */
export function isPlainlyAlive(engine: Engine, runId: string, run: OpenRun): boolean {
  if (run.pid === null || run.token === null || run.signature === null) return false;
  const isSameRecord = recordSignatureOf(runDirOf(engine.home, runId)) === run.signature;
  return isSameRecord && engine.processes.tokenOf(run.pid) === run.token;
}

async function lookAt(parts: Parts, runId: string): Promise<Look> {
  const { engine, roster } = parts;
  const runDir = runDirOf(engine.home, runId);
  const directoryChangedMs = directoryChanged(runDir);
  if (directoryChangedMs === null)
    return { seen: { ...NOTHING, present: false }, status: null, signature: null, token: null };
  // Taken before the read, so that a change in between shows as one.
  const signed = sign(`${runDir}/job.json`);
  const read = readRecord(runDir);
  const ended = read.state === 'ok' && isOver(read.object.value);
  const run = ended ? roster.openRun(runId) : roster.asOpen(runId);
  const pid = read.state === 'ok' && !ended ? processClaimOf(read.object.value).pid : null;
  const token = pid === null ? null : engine.processes.tokenOf(pid);
  let held = false;
  const status = ended
    ? statusOfEnded(runId, read)
    : await classify(engine, runId, {
        ...ONE_RUN_BOUNDS,
        probeEnded: false,
        seenAlive: run?.seenAlive ?? false,
        holdReap: (survivors) => {
          held = run !== null && holdForSurvivors(engine, run, survivors);
          return held;
        },
      });
  const seen = await seenOf(parts, runId, status, { directoryChangedMs, signed, held, run });
  return { seen, status, signature: signed?.signature ?? null, token };
}

const NOTHING: Seen = {
  present: true,
  state: 'no_record',
  won: false,
  step: null,
  sending: false,
  undelivered: false,
  settingsChanged: false,
  changedMs: null,
  directoryChangedMs: null,
  racy: false,
  fruitless: 0,
  held: false,
};

async function seenOf(
  parts: Parts,
  runId: string,
  status: RunStatus,
  at: { directoryChangedMs: number; signed: Signed | null; held: boolean; run: OpenRun | null },
): Promise<Seen> {
  const { engine } = parts;
  const nowMs = engine.now();
  const base: Seen = {
    ...NOTHING,
    won: status.wonTransition,
    changedMs: at.signed?.changedMs ?? null,
    directoryChangedMs: at.directoryChangedMs,
    racy: at.signed !== null && isRacy(at.signed, nowMs),
    held: at.held,
  };
  if (!status.derived.terminal) {
    const alive = status.liveness.alive;
    const fruitless = alive || at.held ? 0 : (at.run?.fruitless ?? 0) + 1;
    return {
      ...base,
      state: status.read.state === 'ok' ? (alive ? 'alive' : 'not_alive') : 'no_record',
      fruitless,
    };
  }
  const record = recordOf(status);
  const claim = claimFacts(engine, record.get('notify_delivery'));
  const step = noticeStep(record, claim, nowMs, engine.config.notify);
  return {
    ...base,
    state: 'ended',
    step,
    sending: parts.deliveries.isSending(runId),
    undelivered: countedOf(record.get('notify_delivery')) !== null,
    settingsChanged: await haveSettingsChanged(engine, runId, status, step),
  };
}

async function haveSettingsChanged(
  engine: Engine,
  runId: string,
  status: RunStatus,
  step: NoticeStep,
): Promise<boolean> {
  if (step.kind !== 'asleep') return false;
  return (await resolveNotifier(engine, runId, recordOf(status))).configHash !== step.configHash;
}

function holdForSurvivors(engine: Engine, run: OpenRun, survivors: readonly number[]): boolean {
  if (survivors.length === 0) return false;
  run.goneSinceMs ??= engine.now();
  return engine.now() - run.goneSinceMs < SURVIVOR_GRACE_MS;
}

/** Null where there is no directory of this name (or link that may lead to one). */
function directoryChanged(runDir: string): number | null {
  try {
    const stat = lstatSync(runDir);
    return stat.isDirectory() || stat.isSymbolicLink() ? stat.ctimeMs : null;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}

function remember(parts: Parts, runId: string, { seen, status, signature, token }: Look): void {
  const { roster, journal } = parts;
  if (status === null) return;
  if (status.refusal !== null) journal({ event: 'refused', run_id: runId, code: status.refusal.code });
  if (seen.state === 'ended') {
    const wasOpen = roster.openRun(runId) !== null;
    roster.asEnded(runId, signature);
    parts.notices.note(runId, recordOf(status).get('notify_delivery'));
    if (!wasOpen) return;
    const source = sourceOf(textOf(recordOf(status).get('terminal_source')));
    journal({ event: 'ended', run_id: runId, source, outcome: status.derived.outcome ?? 'unknown' });
    return;
  }
  const run = roster.asOpen(runId);
  run.signature = signature;
  run.pid = status.liveness.alive ? processClaimOf(recordOf(status)).pid : null;
  run.token = token;
  run.groupId = groupIdOf(recordOf(status));
  run.seenAlive ||= status.liveness.alive;
  run.fruitless = seen.fruitless;
}

function groupIdOf(record: JsonObject): number | null {
  const group = record.get('pgid');
  return group instanceof JsonNumber && group.isInteger ? group.value : null;
}

const SOURCES = new Set([
  'cli_terminal_hook',
  'lifecycle_cache',
  'spawn_failure',
  'mcp_kill',
  'mcp_orphan_reaper',
]);

/** A record's own word goes into no log: only the names we know. */
function sourceOf(recorded: string): string {
  return SOURCES.has(recorded) ? recorded : 'recorded';
}

async function act(parts: Parts, runId: string, look: Look, action: Action): Promise<void> {
  const { roster, schedule, asleep, deliveries, index, engine } = parts;
  switch (action.do) {
    case 'forget':
      roster.forget(runId);
      schedule.drop(runId);
      asleep.drop(runId);
      parts.notices.drop(runId);
      deliveries.forget(runId);
      parts.follow(runId, false);
      return index.drop(runId);
    case 'watch':
      return parts.follow(runId, action.watched);
    case 'look_again': {
      const run = roster.openRun(runId);
      if (run === null) schedule.at(runId, action.atMs);
      else run.notBeforeMs = action.atMs;
      return;
    }
    case 'send':
      asleep.drop(runId);
      return deliveries.add(runId, action.won);
    case 'await_settings':
      return look.status === null ? undefined : asleep.put(engine, runId, recordOf(look.status));
    case 'adopt':
      return afterRewrite(parts, runId, await adopt(engine, runId, look.status));
    case 'park':
      return afterRewrite(parts, runId, await park(parts, runId, look.status, action.reason));
    case 'index':
      if (look.seen.state === 'ended') roster.settle(runId, action.settled);
      return look.status === null ? undefined : index.put(look.status, look.signature, action.settled);
  }
}

async function adopt(
  engine: Engine,
  runId: string,
  status: RunStatus | null,
): Promise<Rewrite | 'unconfigured'> {
  if (status === null) return 'changed_meanwhile';
  const record = recordOf(status);
  const notifier = await resolveNotifier(engine, runId, record);
  if (notifier.kind === 'none') return 'unconfigured';
  const seen = record.get('notify_delivery');
  return rewriteDelivery(engine, runId, seen, adoptedDelivery(seen, engine.now()));
}

async function park(
  { engine, journal }: Parts,
  runId: string,
  status: RunStatus | null,
  reason: string,
): Promise<Rewrite> {
  const seen = status === null ? undefined : recordOf(status).get('notify_delivery');
  const parked = parkedDelivery(seen, reason, '');
  const rewrite = await rewriteDelivery(engine, runId, seen, parked);
  if (rewrite === 'written') journal(noticeEvent(runId, parked));
  return rewrite;
}

function afterRewrite(parts: Parts, runId: string, rewrite: Rewrite | 'unconfigured'): void {
  const pauseMs = {
    written: 0,
    changed_meanwhile: 1_000,
    refused: REWRITE_PAUSE_MS,
    unconfigured: UNCONFIGURED_LOOK_MS,
  };
  parts.schedule.at(runId, parts.engine.now() + pauseMs[rewrite]);
}
