/**
 * Ending a run by hand: identify, pin, look once more, signal the group, record, wait for the group to be
 * empty, and escalate if asked to. Nothing is signalled on a number alone (design 9).
 */
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import type { Engine } from '../engine.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { processClaimOf } from '../liveness/claim.ts';
import type { Finding } from '../liveness/finding.ts';
import { sightClaim } from '../liveness/observe.ts';
import type { Pin, ProcessGroups } from '../process/groups.ts';
import { readRecord } from '../record/read.ts';
import { hasEnd, isOver } from '../run/end.ts';
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
  if (record.get('run_id') !== runId) return nothing('job_record_names_another_run', hasEnd(record));
  const target = new Target(engine, groups, runId, record);
  try {
    return await killTarget(engine, target, request);
  } finally {
    target.release();
  }
}

async function killTarget(engine: Engine, target: Target, request: KillRequest): Promise<KillResult> {
  const ended = isOver(target.record);
  const signalled = target.signal(request.signal);
  // The run may have ended by itself since it was read: the answer does not contradict the disk.
  if (signalled !== 'signalled') return target.result(signalled, ended || target.hasEndNow());
  const recorded = await recordKill(engine, target.runId);
  await target.waitUntilGone(request.graceMs);
  if (request.force && target.left().remaining.length > 0) {
    target.signalAllThatIsLeft(constants.signals.SIGKILL);
    await target.waitUntilGone(Math.max(request.graceMs, FORCE_GRACE_MS));
  }
  if (recorded.kind !== 'done') return target.result('kill_not_recorded', ended);
  return target.result('signalled', recorded.verdict === 'already_ended');
}

/** A killed process may take a moment to be torn down. */
const FORCE_GRACE_MS = 2_000;

function nothing(reasonCode: KillReason, alreadyEnded = false): KillResult {
  return { reasonCode, killed: false, pid: null, groupId: null, alreadyEnded, remaining: [], escaped: [] };
}

/** One run's processes, as its record lets them be known. */
class Target {
  readonly #process;
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
    this.#process = processClaimOf(record);
    this.#claim = killClaimOf(record, this.#process.pid);
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
    const { processes, config, home } = this.engine;
    const runDir = runDirOf(home, this.runId);
    return sightClaim(processes, runDir, this.#process, config.judgeUnownedRecords).finding;
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
    for (const pid of this.left().escaped) {
      const pin = this.groups.pin(pid);
      if (pin === null) continue;
      if (this.left().escaped.includes(pid)) pin.signal(number);
      pin.close();
    }
  }

  /** One look: what lives of the run, and which of that is outside the group. */
  left(): Pick<KillResult, 'remaining' | 'escaped'> {
    const members = new Set(this.#members());
    const marked = this.#marked();
    return {
      remaining: [...new Set([...members, ...marked])].sort((a, b) => a - b),
      escaped: marked.filter((pid) => !members.has(pid)),
    };
  }

  /** Of the group: all, once it has been proved to be the run's, until then those that carry its mark. */
  #members(): number[] {
    if (this.#claim.kind === 'refused') return [];
    const { groupId } = this.#claim.value;
    if (!this.#signalled && !this.#denied)
      return this.#marked().filter((pid) => this.groups.groupOf(pid) === groupId);
    if (this.#leader?.groupIsGone()) return [];
    return this.groups.membersOf(groupId).map((member) => member.pid);
  }

  /** This very call may run inside the run: it is not counted. */
  #marked(): number[] {
    const owner = statSync(runDirOf(this.engine.home, this.runId), { throwIfNoEntry: false });
    const pid = this.#process.pid ?? 0;
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
      groupId: reasonCode === 'no_pid_on_record' ? null : recordedGroupOf(this.record),
      alreadyEnded,
      ...this.left(),
    };
  }
}
