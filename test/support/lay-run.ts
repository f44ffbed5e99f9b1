import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, JsonNumber, type JsonObject, parseJsonObject } from './json-tree.ts';
import { startSleeper } from './processes.ts';
import { pythonFloat, writePythonJson } from './python-json.ts';
import type { World } from './world.ts';

/** A run in a world's store. */
export interface LaidRun {
  readonly runId: string;
  readonly dir: string;
  readonly recordFile: string;
  /** The record as it stands now; numbers keep their text. */
  record(): JsonObject;
  text(): string;
}

/** The fields of a record that name its process. */
export interface Identity {
  readonly [field: string]: JsonNumber;
  readonly pid: JsonNumber;
  readonly pid_create_time: JsonNumber;
  readonly pgid: JsonNumber;
}

/** A process that lived and is gone: every probe of it finds nothing, or another's. */
export async function goneIdentity(): Promise<Identity> {
  const sleeper = await startSleeper(null);
  await sleeper.stop();
  return identityOf(sleeper);
}

export function identityOf(started: { pid: number; pgid: number; createTime: number }): Identity {
  return {
    pid: new JsonNumber(String(started.pid)),
    pid_create_time: new JsonNumber(pythonFloat(started.createTime)),
    pgid: new JsonNumber(String(started.pgid)),
  };
}

/** Lays a started, open run as a Python submitter writes it, with these members over the usual ones. */
export function layRun(world: World, runId: string, members: Readonly<Record<string, Json>> = {}): LaidRun {
  const dir = join(world.jobs, runId);
  const usual: Record<string, Json> = {
    run_id: runId,
    pid: null,
    pid_create_time: null,
    pgid: null,
    kind: 'agent',
    argv: ['li', 'agent', '--prompt-file', join(dir, 'prompt.txt')],
    cwd: world.cwd,
    submit_cwd: world.cwd,
    label: 'a label, caf\u00e9',
    notify_command: null,
    notify_target: null,
    notify_sender: null,
    submitted_at: new Date().toISOString().replace('Z', '000+00:00'),
    finished_at: null,
    status: 'running',
    spawn_state: 'started',
    log: join(dir, 'console.log'),
    // No double holds it: a writer that rounds shows.
    '9007199254740993': new JsonNumber('12345678901234567890123'),
  };
  mkdirSync(dir, { recursive: true });
  const laid = runAt(dir, runId);
  writeFileSync(laid.recordFile, writePythonJson(new Map(Object.entries({ ...usual, ...members }))));
  return laid;
}

export function runAt(dir: string, runId: string): LaidRun {
  const recordFile = join(dir, 'job.json');
  const text = (): string => readFileSync(recordFile, 'utf8');
  return { runId, dir, recordFile, text, record: () => parseJsonObject(text()) };
}
