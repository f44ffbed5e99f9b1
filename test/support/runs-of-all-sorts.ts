import { renameSync, writeFileSync } from 'node:fs';
import { type Json, JsonNumber } from './json-tree.ts';
import { goneIdentity, identityOf, type LaidRun, layRun } from './lay-run.ts';
import { type StartedProcess, startSleeper } from './processes.ts';
import { writePythonJson } from './python-json.ts';
import type { World } from './world.ts';

type Members = Readonly<Record<string, Json>>;

/** The id of the `n`th run of a test; a later one is newer. */
/**
 * Processes carry the mark of their run, for all of the machine to see: tests that run side by side have other ids,
 * or the live run of one would be a survivor of another's.
 */
const WORKER = Number(process.env.VITEST_POOL_ID ?? 0) % 16;

export function runIdOf(n: number): string {
  const at = new Date(Date.UTC(2026, 7, 1, 12, 0, n)).toISOString().replace(/[-:]/g, '').slice(0, 15);
  return `${at}-${(0xa00000 + WORKER * 0x10000 + n).toString(16)}`;
}

export function jsonObject(members: Members): Json {
  return new Map(Object.entries(members));
}

/** An ISO time as the Python side writes it, so many seconds ago. */
export function secondsAgo(seconds: number): string {
  return new Date(Date.now() - seconds * 1000).toISOString().replace('Z', '000+00:00');
}

/** Ended by its own hook, with this status. */
export function layEnded(world: World, runId: string, status: string, members: Members = {}): LaidRun {
  return layRun(world, runId, {
    status,
    cli_status: status,
    finished_at: secondsAgo(60),
    finished_at_precision: 'observed',
    terminal_source: 'cli_terminal_hook',
    notify_delivery: jsonObject({ attempted: false }),
    ...members,
  });
}

/** Ended a while ago with its notice owed and due, to be sent by this command. */
export function layOwed(world: World, runId: string, command: string | null, members: Members = {}): LaidRun {
  return layEnded(world, runId, 'completed', {
    finished_at: secondsAgo(70),
    notify_command: command,
    notify_delivery: jsonObject({ attempted: false, owed: true }),
    ...members,
  });
}

/** Its producer could not start it, and said so. */
export function laySpawnFailed(world: World, runId: string, members: Members = {}): LaidRun {
  return layRun(world, runId, {
    status: 'failed',
    spawn_state: 'failed',
    reason_code: 'spawn_failed',
    finished_at: secondsAgo(60),
    finished_at_precision: 'observed',
    terminal_source: 'spawn_failure',
    ...members,
  });
}

/** Started, no end on the record, and its process is gone: the next look ends it. */
export async function layGone(world: World, runId: string, members: Members = {}): Promise<LaidRun> {
  return layRun(world, runId, { ...(await goneIdentity()), ...members });
}

/** No end, and no pid that could be asked about: nobody can tell, so nobody ends it. */
export function layAdvisory(world: World, runId: string, members: Members = {}): LaidRun {
  return layRun(world, runId, members);
}

export function layPreparing(world: World, runId: string, ageS: number): LaidRun {
  return layRun(world, runId, { spawn_state: 'preparing', submitted_at: secondsAgo(ageS) });
}

export interface LiveRun extends LaidRun {
  readonly process: StartedProcess;
}

/** A run whose process lives until it is stopped, or the world is. */
export async function layLive(world: World, runId: string, members: Members = {}): Promise<LiveRun> {
  const process = await startSleeper(runId);
  world.onDispose(process.stop);
  return { ...layRun(world, runId, { ...identityOf(process), ...members }), process };
}

/** Another writer's replacement of a record: all of it at once, as a reader must be able to take for granted. */
export function replaceRecord(run: LaidRun, members: Members): void {
  const temporary = `${run.recordFile}.${process.pid}.tmp`;
  writeFileSync(temporary, writePythonJson(new Map([...run.record(), ...Object.entries(members)])));
  renameSync(temporary, run.recordFile);
}

/** What the run's own hook would write now. */
export function endNow(run: LaidRun, status: string): void {
  replaceRecord(run, { status, finished_at: secondsAgo(0), terminal_source: 'cli_terminal_hook' });
}

/** The members of a record that an end is made of, as plain values. */
export function endOf(run: LaidRun): Record<string, unknown> {
  const record = run.record();
  const names = ['status', 'outcome', 'reason_code', 'finished_at_precision', 'terminal_source'];
  return Object.fromEntries(names.map((name) => [name, record.get(name) ?? null]));
}

export const REAPED = {
  status: 'exited',
  outcome: 'indeterminate',
  reason_code: 'process_gone_without_outcome',
  finished_at_precision: 'upper_bound',
  terminal_source: 'mcp_orphan_reaper',
};

/** What a record says of its notice, as plain values. */
// biome-ignore lint/suspicious/noExplicitAny: notices of every shape
export function noticeOf(run: LaidRun): any {
  return plain(run.record().get('notify_delivery') ?? null);
}

function plain(value: Json): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  return value;
}
