import type { Jsonable } from '../json/value.ts';
import { mcpFields } from '../submit/mcp-config.ts';
import type { SubmitRequest } from '../submit/request.ts';
import type { Submitted } from '../submit/submit.ts';
import { JUST_STARTED } from './lifecycle.ts';

/** The handle a submission returns (ADR-0106 D5): nothing about the work itself. */
export function submitData(request: SubmitRequest, submitted: Submitted): Readonly<Record<string, Jsonable>> {
  const { files, pid } = submitted;
  return {
    run_id: files.runId,
    pid,
    status: 'running',
    terminal: false,
    outcome: null,
    reason_code: null,
    spawn_state: 'started',
    lifecycle: JUST_STARTED,
    log: files.log,
    ...mcpFields(request.mcp, files),
    notify_sender: request.notifySender,
    job_dir: files.runDir,
    tags: [...request.tags],
  };
}
