/**
 * The run reasons that the Python side registers (its `state/reasons` vocabulary). A payload may name one of
 * these; anything else in its place is somebody's free text and is not recorded.
 */
const REGISTERED: ReadonlySet<string> = new Set(
  `legacy.imported
   run.started.ok run.completed.ok run.completed.finalize_error run.completed.gate_rejected
   run.completed_empty.no_evidence run.timed_out.deadline run.aborted.user run.paused.operator
   run.failed.exit_nonzero run.failed.exception run.failed.provider_retryable run.failed.provider_nonretryable
   run.failed.missing_artifact run.failed.missing_cwd run.failed.cwd_inherit_refused run.failed.escalated
   run.failed.artifact_write run.failed.lease_attempts_exhausted run.failed.never_dispatched
   run.cancelled.sigint run.cancelled.sigterm run.cancelled.system run.cancelled.orchestrator
   run.cancelled.manual_kill run.cancelled.force_kill run.cancelled.stale_auto
   run.queued.lease_expired run.skipped.waiter_cap_exceeded run.skipped.duration_exceeds_lease`.split(/\s+/),
);

export function isRegisteredReason(code: unknown): code is string {
  return typeof code === 'string' && REGISTERED.has(code);
}
