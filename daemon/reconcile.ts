/**
 * One run, from its id to what is done about it: look (through the engine's one status path, which ends what is
 * provably gone), remember, decide, act. It is given an id and never an event; whatever made somebody think of
 * this run, the answer is on its disk.
 */
import { JsonNumber, type JsonObject } from '../shared/json/value.ts';
import { processClaimOf } from '../shared/liveness/claim.ts';
import { textOf } from '../shared/notify/notifier.ts';
import { recordOf } from '../shared/run/status.ts';
import { act } from './act.ts';
import { decide } from './decide.ts';
import { type Look, lookAt } from './look.ts';
import type { Parts } from './parts.ts';

export async function reconcile(parts: Parts, runId: string): Promise<void> {
  const look = await lookAt(parts, runId);
  remember(parts, runId, look);
  for (const action of decide(look.seen, parts.engine.now())) await act(parts, runId, look, action);
}

function remember(parts: Parts, runId: string, { seen, status, signature, token }: Look): void {
  const { roster, journal } = parts;
  if (status === null) return;
  if (status.refusal !== null) journal({ event: 'refused', run_id: runId, code: status.refusal.code });
  if (seen.state === 'ended') {
    const wasOpen = roster.openRun(runId) !== null;
    roster.asEnded(runId, signature);
    parts.notices.note(runId, recordOf(status).get('notify_delivery'));
    if (!wasOpen) return;
    const source = sourceOf(textOf(recordOf(status).get('terminal_source')));
    journal({ event: 'ended', run_id: runId, source, outcome: status.derived.outcome ?? 'unknown' });
    return;
  }
  const run = roster.asOpen(runId);
  run.signature = signature;
  run.pid = status.liveness.alive ? processClaimOf(recordOf(status)).pid : null;
  run.token = token;
  run.groupId = groupIdOf(recordOf(status));
  run.seenAlive ||= status.liveness.alive;
  run.fruitless = seen.fruitless;
}

function groupIdOf(record: JsonObject): number | null {
  const group = record.get('pgid');
  return group instanceof JsonNumber && group.isInteger ? group.value : null;
}

const SOURCES = new Set([
  'cli_terminal_hook',
  'lifecycle_cache',
  'spawn_failure',
  'mcp_kill',
  'mcp_orphan_reaper',
]);

/** A record's own word goes into no log: only the names we know. */
function sourceOf(recorded: string): string {
  return SOURCES.has(recorded) ? recorded : 'recorded';
}
