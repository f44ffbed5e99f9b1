import { type Json, type Jsonable, JsonNumber, type JsonObject, toJson } from '../json/value.ts';
import type { Origin } from '../process/table.ts';
import { mcpFields } from './mcp-config.ts';
import type { RunFiles, SubmitRequest } from './request.ts';

/** The record as it stands before the spawn: `preparing`, so that no reader takes a missing pid for a failure. */
export function preparedRecord(
  request: SubmitRequest,
  files: RunFiles,
  argv: readonly string[],
  submitted: { readonly at: string; readonly cwd: string },
): JsonObject {
  return toJson({
    run_id: files.runId,
    pid: null,
    pid_create_time: null,
    pgid: null,
    kind: request.kind,
    argv: [...(request.shownArgv ?? argv)],
    cwd: request.cwd,
    submit_cwd: submitted.cwd,
    label: request.label,
    notify_command: request.notifyCommand,
    notify_target: request.notifyTarget,
    notify_sender: request.notifySender,
    ...mcpFields(request.mcp, files),
    submitted_at: submitted.at,
    finished_at: null,
    status: 'running',
    spawn_state: 'preparing',
    log: files.log,
    ...(request.tags.length > 0 ? { tags: [...request.tags] } : {}),
  } satisfies Record<string, Jsonable>) as JsonObject;
}

export interface Birth {
  readonly pid: number;
  /** Epoch seconds, as the Python writers compute it; null where it could not be read. */
  readonly createTime: number | null;
  readonly startTicks: number | null;
  readonly origin: Origin;
}

/** What the spawn adds. Neither an end nor a notice is among it (ADR-0107 D5). */
export function startedFields(birth: Birth): Map<string, Json> {
  const { hostId, bootId, pidNamespace } = birth.origin;
  const fields = toJson({
    pid: birth.pid,
    pid_create_time: birth.createTime === null ? null : asPythonFloat(birth.createTime),
    pgid: birth.pid,
    spawn_state: 'started',
    ...(birth.startTicks === null ? {} : { pid_start_ticks: birth.startTicks }),
    origin: { host_id: hostId, boot_id: bootId, pid_namespace: pidNamespace },
  }) as JsonObject;
  return fields;
}

/** Python writes a double with its point, also on a whole second. */
function asPythonFloat(value: number): JsonNumber {
  return new JsonNumber(Number.isInteger(value) ? `${value}.0` : String(value));
}

/** A spawn that was refused is an end of its own; its submitter was told, so no notice is owed. */
export function failedFields(reason: string, at: string): Map<string, Json> {
  return toJson({
    spawn_state: 'failed',
    reason,
    status: 'failed',
    finished_at: at,
    finished_at_precision: 'observed',
    terminal_source: 'spawn_failure',
    notify_delivery: { attempted: false, owed: false },
  }) as JsonObject;
}
