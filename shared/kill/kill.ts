/**
 * Ending a run by hand: identify, pin, look once more, signal the group, record, wait for the group to be
 * empty, and escalate if asked to. Nothing is signalled on a number alone (design 9).
 */
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import type { Engine } from '../engine.ts';
import { type Json, JsonNumber, type JsonObject } from '../json/value.ts';
import { processClaimOf } from '../liveness/claim.ts';
import type { Finding } from '../liveness/finding.ts';
import { judgeSighting } from '../liveness/judge.ts';
import type { Pin, ProcessGroups } from '../process/groups.ts';
import { readRecord } from '../record/read.ts';
import { hasEnd } from '../run/end.ts';
import { isLocalFilesystem } from '../store/filesystem.ts';
import { runDirOf } from '../store/home.ts';
import { sleep } from '../time/sleep.ts';
import { identifyGroup, identifyLeader, type KillClaim, killClaimOf, recordedGroupOf } from './identify.ts';
import type { KillReason } from './reason.ts';
import { recordKill } from './record-kill.ts';

export interface KillRequest {
  readonly signal: number;
  /** How long to wait for the group to be empty after the signal. */
  readonly graceMs: number;
  /** After the grace, SIGKILL for what is left, processes that left the group included. */
  readonly force: boolean;
}

export interface KillResult {
  readonly reasonCode: KillReason;
  /** The signal was delivered: not that anything has ended (ADR-0106 D6). */
  readonly killed: boolean;
  readonly pid: Json;
  readonly groupId: number | null;
  /** The run had its end before this kill; that end stands. */
  readonly alreadyEnded: boolean;
  /** Live processes of the run: members of the signalled group, and marked ones. */
  readonly remaining: readonly number[];
  /** Those of them that left the group. */
  readonly escaped: readonly number[];
}

const POLL_MS = 50;

export async function killRun(
  engine: Engine,
  groups: ProcessGroups,
  runId: string,
  request: KillRequest,
): Promise<KillResult> {
  const read = readRecord(runDirOf(engine.home, runId));
  if (read.state === 'absent') return nothing('no_such_job');
  if (read.state !== 'ok') return nothing(`job_record_${read.state}`);
  const record = read.object.value;
  if (record.get('run_id') !== runId)
    return { ...nothing('job_record_names_another_run', record), pid: null };
  const target = new Target(engine, groups, runId, record);
  try {
    return await killTarget(engine, target, request);
  } finally {
    target.release();
  }
}

async function killTarget(engine: Engine, target: Target, request: KillRequest): Promise<KillResult> {
  const ended = hasEnd(target.record) || target.record.get('spawn_state') === 'failed';
  const signalled = target.signal(request.signal);
  // The run may have ended by itself since it was read: the answer does not contradict the disk.
  if (signalled !== 'signalled') return target.result(signalled, ended || target.hasEndNow());
  const recorded = await recordKill(engine, target.runId);
  await target.waitUntilGone(request.graceMs);
  if (request.force && target.remaining().length > 0) {
    target.signalAllThatIsLeft(constants.signals.SIGKILL);
    await target.waitUntilGone(Math.max(request.graceMs, FORCE_GRACE_MS));
  }
  if (recorded.kind !== 'done') return target.result('kill_not_recorded', ended);
  return target.result('signalled', recorded.verdict === 'already_ended');
}

/** A killed process may take a moment to be torn down. */
const FORCE_GRACE_MS = 2_000;

function nothing(reasonCode: KillReason, record: JsonObject | null = null): KillResult {
  const pid = record?.get('pid') ?? null;
  const end = record !== null && hasEnd(record);
  return { reasonCode, killed: false, pid, groupId: null, alreadyEnded: end, remaining: [], escaped: [] };
}

/** Without a start time that could be one, a group on record is nobody's. Python takes a boolean for a number. */
function isNumeric(value: Json | undefined): boolean {
  return value instanceof JsonNumber || typeof value === 'boolean';
}

/** One run's processes, as its record lets them be known. */
class Target {
  readonly #claim;
  #signalled = false;
  /** Known for the run's, and not ours to signal. */
  #denied = false;
  /** The leader, once signalled: while the group has a member it keeps naming that group and no other. */
  #leader: Pin | null = null;

  constructor(
    readonly engine: Engine,
    readonly groups: ProcessGroups,
    readonly runId: string,
    readonly record: JsonObject,
  ) {
    this.#claim = killClaimOf(record, processClaimOf(record).pid);
  }

  /** Sends to the group, through a process of it that is held while it is looked at again. */
  signal(number: number): KillReason {
    if (this.#claim.kind === 'refused') return this.#claim.code;
    const claim = this.#claim.value;
    const found = this.#identify(claim);
    if (found.kind === 'refused') return found.code;
    const pin = this.groups.pin(found.value);
    if (pin === null) return 'process_gone';
    const sent = this.#signalHeld(claim, found.value, pin, number);
    if (sent === 'signalled' && found.value === claim.pid && this.#leader === null) this.#leader = pin;
    else pin.close();
    return sent;
  }

  #signalHeld(claim: KillClaim, pid: number, pin: Pin, number: number): KillReason {
    const again = this.#identify(claim);
    if (again.kind === 'refused' || again.value !== pid) return 'leader_identity_changed';
    const sent = pin.signalGroup(claim.groupId, number);
    this.#denied = sent === 'denied';
    if (sent === 'denied') return 'permission_denied';
    if (sent === 'gone') return 'process_gone';
    this.#signalled = true;
    return 'signalled';
  }

  #identify(claim: KillClaim): ReturnType<typeof identifyGroup> {
    const finding = this.#look();
    const leader = identifyLeader(finding, this.groups.groupOf(claim.pid), claim);
    if (leader !== null) return leader;
    const group = identifyGroup(this.groups.membersOf(claim.groupId), this.runId, claim);
    // Another process on the number: only this run's own mark in the group outweighs that.
    return finding === 'pid_recycled' && group.kind === 'refused'
      ? { kind: 'refused', code: 'pid_recycled' }
      : group;
  }

  #look(): Finding {
    const claim = processClaimOf(this.record);
    const { processes, config, home } = this.engine;
    return judgeSighting(claim, claim.pid === null ? null : processes.sight(claim.pid), {
      standpoint: processes.standpoint(),
      localFilesystem: isLocalFilesystem(runDirOf(home, this.runId)),
      judgeUnowned: config.judgeUnownedRecords,
    });
  }

  async waitUntilGone(graceMs: number): Promise<void> {
    const started = performance.now();
    while (
      this.#members().length > 0 &&
      performance.now() - started < graceMs &&
      !this.engine.signal.aborted
    ) {
      await sleep(POLL_MS, this.engine.signal);
    }
  }

  /** Each one held, and seen to be this run's once more, before it is signalled. */
  signalAllThatIsLeft(number: number): void {
    const sent =
      this.#claim.kind === 'identified' && this.#leader?.signalGroup(this.#claim.value.groupId, number);
    if (sent !== 'sent') this.signal(number);
    for (const pid of this.escaped()) {
      const pin = this.groups.pin(pid);
      if (pin === null) continue;
      if (this.escaped().includes(pid)) pin.signal(number);
      pin.close();
    }
  }

  remaining(): number[] {
    return [...new Set([...this.#members(), ...this.#marked()])].sort((a, b) => a - b);
  }

  /** Marked processes outside the group. This very call may run inside the run: it is not counted. */
  escaped(): number[] {
    const members = new Set(this.#members());
    return this.#marked().filter((pid) => !members.has(pid));
  }

  /** Of the group, once it has been proved to be the run's. */
  #members(): number[] {
    if (this.#claim.kind === 'refused') return [];
    if (!this.#signalled && !this.#denied)
      return this.#marked().filter((pid) => this.groups.groupOf(pid) === recordedGroupOf(this.record));
    if (this.#leader?.groupIsGone()) return [];
    return this.groups.membersOf(this.#claim.value.groupId).map((member) => member.pid);
  }

  #marked(): number[] {
    const owner = statSync(runDirOf(this.engine.home, this.runId), { throwIfNoEntry: false });
    const pid = processClaimOf(this.record).pid ?? 0;
    const { marked } = this.engine.processes.scanForMark(this.runId, pid, owner?.uid ?? 0);
    return marked.map((process) => process.pid).filter((each) => each !== process.pid);
  }

  hasEndNow(): boolean {
    const read = readRecord(runDirOf(this.engine.home, this.runId));
    return read.state === 'ok' && hasEnd(read.object.value);
  }

  release(): void {
    this.#leader?.close();
  }

  result(reasonCode: KillReason, alreadyEnded: boolean): KillResult {
    return {
      reasonCode,
      killed: this.#signalled,
      pid: this.record.get('pid') ?? null,
      groupId:
        reasonCode === 'no_pid_on_record' || !isNumeric(this.record.get('pid_create_time'))
          ? null
          : recordedGroupOf(this.record),
      alreadyEnded,
      remaining: this.remaining(),
      escaped: this.escaped(),
    };
  }
}
