import type { Engine } from '../engine.ts';
import { pyTruthy } from '../json/python.ts';
import type { Json, Jsonable } from '../json/value.ts';
import { deliveryStateOf, retryStateOf } from '../notify/delivery-state.ts';
import { available } from '../output/available.ts';
import { readConsole, STATUS_TAIL_CHARS } from '../output/console.ts';
import { degradedReason, readManifest } from '../output/manifest.ts';
import { preparingAgeSeconds } from '../run/preparing.ts';
import { type RunStatus, recordOf } from '../run/status.ts';
import { lifecycleOf } from './lifecycle.ts';
import { survivorsOf } from './row.ts';

/** `data` of `lion job status` (ADR-0106 D4, D6, D7; design 9), in the order the Python engine gives it. */
export function statusData(engine: Engine, status: RunStatus): Readonly<Record<string, Jsonable>> {
  const record = recordOf(status);
  const field = (name: string): Json => record.get(name) ?? null;
  const { derived, liveness } = status;
  const manifest = readManifest(engine, status.runId);
  const servers = field('declared_mcp_servers') ?? field('mcp_config_servers');
  const delivery = field('notify_delivery');
  return {
    run_id: status.runId,
    kind: field('kind'),
    label: field('label'),
    status: derived.status,
    terminal: derived.terminal,
    outcome: derived.outcome,
    reason_code: derived.reasonCode,
    spawn_state: field('spawn_state'),
    possibly_orphaned: derived.possiblyOrphaned,
    terminal_source: field('terminal_source'),
    terminal_evidence: field('terminal_evidence'),
    alive: liveness.alive,
    pid_identity: liveness.pidIdentity,
    liveness_conclusion: liveness.conclusion,
    pid: field('pid'),
    submitted_at: field('submitted_at'),
    finished_at: field('finished_at'),
    finished_at_precision: field('finished_at_precision'),
    notify_delivery: { ...available<Jsonable>(delivery ?? (derived.terminal ? { attempted: false } : null)) },
    notify_delivery_state: deliveryStateOf(delivery),
    notify_retry_state: retryStateOf(delivery),
    mcp_config: field('mcp_config'),
    mcp_config_source: field('mcp_config_source'),
    mcp_config_reason: field('mcp_config_reason'),
    declared_mcp_servers: servers,
    mcp_config_servers: servers,
    persistence_degraded_reason: degradedReason(manifest),
    run: { ...manifest },
    console: { ...readConsole(record.get('log'), STATUS_TAIL_CHARS) },
    record_state: status.read.state,
    lifecycle: lifecycleOf(record, derived, degradedReason(manifest)),
    preparing_age_seconds: preparingAgeSeconds(record, engine.now()),
    failure_cause: field('failure_cause'),
    exit_code: field('exit_code'),
    exit_signal: field('exit_signal'),
    late_report: field('late_report'),
    survivors: survivorsOf(status),
    refusal: status.refusal === null ? null : { ...status.refusal },
    run_dir: `${engine.home.runsDir}/${status.runId}`,
    job_dir: `${engine.home.jobsDir}/${status.runId}`,
    tags: pyTruthy(field('tags')) ? field('tags') : [],
  };
}
