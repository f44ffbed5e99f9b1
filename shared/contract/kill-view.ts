import type { Jsonable } from '../json/value.ts';
import type { KillResult } from '../kill/kill.ts';
import { reasonInWords } from '../kill/reason.ts';

/** `data` of `lion job kill` (ADR-0106 D6, design 9). */
export function killData(
  runId: string,
  signal: string,
  result: KillResult,
): Readonly<Record<string, Jsonable>> {
  return {
    run_id: runId,
    killed: result.killed,
    reason: reasonInWords(result.reasonCode),
    reason_code: result.reasonCode,
    pid: result.pid,
    pgid: result.groupId,
    signal: result.killed ? signal : null,
    gone: result.remaining.length === 0,
    remaining: [...result.remaining],
    escaped: [...result.escaped],
    already_ended: result.alreadyEnded,
  };
}
