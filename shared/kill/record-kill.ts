import type { Engine } from '../engine.ts';
import { type Json, toJson } from '../json/value.ts';
import { resolveNotifier } from '../notify/notifier.ts';
import { owedAfterGrace, withOwed } from '../notify/owed.ts';
import { type Mutation, mutateRecord } from '../record/mutate.ts';
import { readRecord } from '../record/read.ts';
import { isOver } from '../run/end.ts';
import { WRITER_LOCK_WAIT_MS } from '../run/mark-terminal.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso } from '../time/iso.ts';

/**
 * A kill's end (ADR-0107 D4, `mcp_kill`), or beside an end that is there only when its group was cleared away
 * (`group_reaped_at`). Its notice is left to the run's own hook for a while.
 */
export async function recordKill(
  engine: Engine,
  runId: string,
): Promise<Mutation<'killed' | 'already_ended'>> {
  const at = formatIso(engine.now());
  const read = readRecord(runDirOf(engine.home, runId));
  const notifier = read.state === 'ok' ? await resolveNotifier(engine, runId, read.object.value) : null;
  const owed = notifier === null || notifier.kind === 'none' ? { owed: false } : owedAfterGrace(engine.now());
  const options = { waitMs: WRITER_LOCK_WAIT_MS, signal: engine.signal, now: engine.now };
  return mutateRecord(runDirOf(engine.home, runId), runId, options, (record) => {
    if (isOver(record)) {
      return { verdict: 'already_ended', set: new Map<string, Json>([['group_reaped_at', toJson(at)]]) };
    }
    const end = new Map<string, Json>([
      ['status', 'killed'],
      ['finished_at', at],
      ['finished_at_precision', 'observed'],
      ['terminal_source', 'mcp_kill'],
      ['notify_delivery', withOwed(record.get('notify_delivery'), owed)],
    ]);
    return { verdict: 'killed', set: end };
  });
}
