import { lstatSync } from 'node:fs';
import type { Engine } from '../shared/engine.ts';
import { errnoOf } from '../shared/errno.ts';
import { processClaimOf } from '../shared/liveness/claim.ts';
import { claimFacts } from '../shared/notify/claim.ts';
import { type NoticeStep, noticeStep } from '../shared/notify/next-step.ts';
import { resolveNotifier } from '../shared/notify/notifier.ts';
import { readRecord } from '../shared/record/read.ts';
import { isOver } from '../shared/run/end.ts';
import { classify, ONE_RUN_BOUNDS, type RunStatus, recordOf, statusOfEnded } from '../shared/run/status.ts';
import { runDirOf } from '../shared/store/home.ts';
import { isRacy, recordSignatureOf, type Signed, sign } from '../shared/store/signature.ts';
import type { Seen } from './decide.ts';
import { countedOf } from './notice-counts.ts';
import type { Parts } from './parts.ts';
import type { OpenRun } from './roster.ts';

/** A gone run whose processes partly live on is left alone this long: a late hook of its may still report. */
const SURVIVOR_GRACE_MS = 5_000;
/** What was seen of a run, with what it was seen from. */
export interface Look {
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

/** Looks at a run through the engine's one status path, which ends what is provably gone. */
export async function lookAt(parts: Parts, runId: string): Promise<Look> {
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
          held = run !== null && holdForSurvivors(run, survivors);
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

function holdForSurvivors(run: OpenRun, survivors: readonly number[]): boolean {
  if (survivors.length === 0) return false;
  run.goneSinceMs ??= performance.now();
  return performance.now() - run.goneSinceMs < SURVIVOR_GRACE_MS;
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

/**
 * Is there nothing to do for this run right now? Its record is as it was read, and the process that a full look
 * found alive is still the one that has its number. Cheap: one stat and one look at the process, no child.
 */
export function isPlainlyAlive(engine: Engine, runId: string, run: OpenRun): boolean {
  if (run.pid === null || run.token === null || run.signature === null) return false;
  const isSameRecord = recordSignatureOf(runDirOf(engine.home, runId)) === run.signature;
  return isSameRecord && engine.processes.tokenOf(run.pid) === run.token;
}
