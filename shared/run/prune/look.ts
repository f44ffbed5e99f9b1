import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../engine.ts';
import { errnoOf } from '../../errno.ts';
import type { JsonObject } from '../../json/value.ts';
import { type ProcessClaim, processClaimOf } from '../../liveness/claim.ts';
import { isConclusive } from '../../liveness/finding.ts';
import { observeLiveness } from '../../liveness/observe.ts';
import { claimFacts } from '../../notify/claim.ts';
import { endMsOf, isOurs, noticeStep } from '../../notify/next-step.ts';
import { isUnsettled } from '../../notify/notice-filter.ts';
import type { ProcessTable } from '../../process/table.ts';
import { type RecordRead, readRecord } from '../../record/read.ts';
import { runDirOf } from '../../store/home.ts';
import { hasSubmittersForm } from '../../store/run-id.ts';
import { recordSignatureOf } from '../../store/signature.ts';
import { derive } from '../derive.ts';
import { isOver } from '../end.ts';
import type { RunFacts } from './decide.ts';

/** The record a decision was made on; a null text: none that could be read. */
export interface SeenRecord {
  readonly signature: string | null;
  readonly text: string | null;
}

export interface Look {
  readonly facts: RunFacts;
  readonly seen: SeenRecord;
}

/** Looks at one run without writing, locking or asking anyone. @throws the system's error. */
export function lookAtRun(engine: Engine, processes: ProcessTable, runId: string): Look {
  const runDir = runDirOf(engine.home, runId);
  // Taken before the read, so that a change in between shows as one.
  const signature = recordSignatureOf(runDir);
  const read = readRecord(runDir);
  const record = read.state === 'ok' ? read.object.value : null;
  const isItsOwn = record?.get('run_id') === runId;
  const facts: RunFacts = {
    state: stateOf(read, isItsOwn),
    life: lifeOf(engine, processes, runId, record === null ? NO_CLAIM : processClaimOf(record)),
    noticeSettled: record === null || isNoticeSettled(engine, record),
    outcome: record === null || !isItsOwn ? null : derive(record, false).outcome,
    endedMs: record === null ? null : endMsOf(record),
    changedMs: changedMsOf(runDir),
    hasRunName: hasSubmittersForm(runId),
  };
  return { facts, seen: seenIn(signature, read) };
}

/** Is the record still the one that was seen? To be asked under the run's lock. */
export function isAsSeen(runDir: string, seen: SeenRecord): boolean {
  const now = seenIn(recordSignatureOf(runDir), readRecord(runDir));
  return now.signature === seen.signature && now.text === seen.text;
}

/** The text too: a signature as young as its record may stand for two of them. */
function seenIn(signature: string | null, read: RecordRead): SeenRecord {
  return { signature, text: read.state === 'ok' ? read.object.text : null };
}

function stateOf(read: RecordRead, isItsOwn: boolean): RunFacts['state'] {
  if (read.state === 'absent') return 'reserved';
  if (read.state !== 'ok') return 'damaged';
  // Of another run's record only its end is of use: without one nothing tells that it may go.
  if (!isOver(read.object.value)) return 'open';
  return isItsOwn ? 'ended' : 'damaged';
}

const NO_CLAIM: ProcessClaim = { pid: null, createTime: 'not_recorded', startTicks: null, origin: null };
/** Nobody's: the marks alone are asked about. */
const NO_PID = -1;

/** A process that carries the run's mark keeps it, whatever became of the one on its record. */
function lifeOf(
  engine: Engine,
  processes: ProcessTable,
  runId: string,
  claim: ProcessClaim,
): RunFacts['life'] {
  const runDir = runDirOf(engine.home, runId);
  const { liveness, survivors } = observeLiveness(processes, runId, runDir, claim, {
    judgeUnowned: engine.config.judgeUnownedRecords,
    guard: true,
  });
  if (liveness.alive || survivors.length > 0) return 'alive';
  if (isConclusive(liveness.finding)) return 'none_seen';
  if (liveness.finding === 'candidate_unreadable') return 'unknown';
  const scan = processes.scanForMark(runId, NO_PID, lstatSync(runDir).uid);
  if (scan.marked.length > 0) return 'alive';
  return scan.unreadableCandidate ? 'unknown' : 'none_seen';
}

function isNoticeSettled(engine: Engine, record: JsonObject): boolean {
  const delivery = record.get('notify_delivery') ?? null;
  if (isOurs(delivery) && isUnsettled(delivery)) return false;
  const step = noticeStep(record, claimFacts(engine, delivery), engine.now(), engine.config.notify);
  return step.kind === 'settled';
}

function changedMsOf(runDir: string): number | null {
  try {
    return (statSync(join(runDir, 'job.json'), { throwIfNoEntry: false }) ?? lstatSync(runDir)).mtimeMs;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
