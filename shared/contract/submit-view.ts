import type { Jsonable } from '../json/value.ts';
import type { SubmitRequest } from '../submit/request.ts';
import type { Submitted } from '../submit/submit.ts';

/** The handle a submission returns (ADR-0106 D5): nothing about the work itself. */
export function submitData(request: SubmitRequest, submitted: Submitted): Readonly<Record<string, Jsonable>> {
  const { files, pid } = submitted;
  const declared = request.mcp?.declared ?? null;
  return {
    run_id: files.runId,
    pid,
    status: 'running',
    terminal: false,
    outcome: null,
    reason_code: null,
    spawn_state: 'started',
    lifecycle: {
      state: 'working',
      qualifier: null,
      reason: null,
      code: null,
      retryable: null,
      correlation_id: null,
    },
    log: files.log,
    mcp_config: request.mcp?.fileText ? files.mcpFile : null,
    mcp_config_source: request.mcp?.source ?? null,
    mcp_config_reason: request.mcp?.reason ?? null,
    declared_mcp_servers: declared === null ? null : [...declared],
    mcp_config_servers: declared === null ? null : [...declared],
    notify_sender: request.notifySender,
    job_dir: files.runDir,
    tags: [...request.tags],
  };
}
