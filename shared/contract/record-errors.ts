import type { RecordRead } from '../record/read.ts';
import type { RunStatus } from '../run/status.ts';
import { LionError } from './errors.ts';

/** The refusal for a run whose record cannot answer, or null where it can (design 9). */
export function recordError(status: RunStatus): LionError | null {
  return status.read.state === 'ok' ? null : recordRefusal(status.runId, status.read);
}

export function recordRefusal(runId: string, read: Exclude<RecordRead, { state: 'ok' }>): LionError {
  switch (read.state) {
    case 'absent':
      return new LionError('not_found', `no job with id ${runId}`, { run_id: runId });
    case 'unreadable':
      return new LionError('unavailable', `the record of ${runId} cannot be read: ${read.why}`, {
        record_state: read.state,
        why: read.why,
      });
    case 'wrong_shape':
      return new LionError('unavailable', `the record of ${runId} is JSON and not an object`, {
        record_state: read.state,
      });
  }
}
