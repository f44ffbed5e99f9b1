import type { Engine } from '../shared/engine.ts';
import { processClaimOf } from '../shared/liveness/claim.ts';
import { observeLiveness } from '../shared/liveness/observe.ts';
import { attemptNotice } from '../shared/notify/attempt-notice.ts';
import { deliveryStateOf } from '../shared/notify/delivery-state.ts';
import { textOf } from '../shared/notify/notifier.ts';
import { classify, ONE_RUN_BOUNDS, recordOf } from '../shared/run/status.ts';
import { runDirOf } from '../shared/store/home.ts';
import type { Journal } from './journal.ts';
import { type OpenRun, recordSignatureOf } from './roster.ts';

/** A gone run whose processes partly live on is left alone this long: a late hook of its may still report. */
const SURVIVOR_GRACE_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Is there nothing to do for this run right now? Its record is as it was read and its process is plainly the
 * one recorded. Cheap: one stat and one look at the process, no child.
 */
export function isPlainlyAlive(engine: Engine, run: OpenRun): boolean {
  const runDir = runDirOf(engine.home, run.runId);
  if (run.claim === null || run.signature === null || recordSignatureOf(runDir) !== run.signature)
    return false;
  const { liveness } = observeLiveness(engine.processes, run.runId, runDir, run.claim, {
    judgeUnowned: engine.config.judgeUnownedRecords,
    guard: false,
  });
  return liveness.alive;
}

/**
 * Looks at one run and does what its state asks for, through the same calls readers use. `settled`: it has
 * ended and needs no more looking after; `open`: look again.
 */
export async function reconcile(
  engine: Engine,
  run: OpenRun,
  journal: Journal,
  tellOf: (runId: string) => Promise<void>,
): Promise<'settled' | 'open'> {
  // Taken before the read, so that a change in between shows as one.
  const signature = recordSignatureOf(runDirOf(engine.home, run.runId));
  const status = await classify(engine, run.runId, {
    ...ONE_RUN_BOUNDS,
    probeEnded: false,
    seenAlive: run.seenAlive,
    holdReap: (survivors) => holdForSurvivors(engine, run, survivors),
  });
  run.signature = signature;
  run.claim = status.liveness.alive ? processClaimOf(recordOf(status)) : null;
  run.seenAlive ||= status.liveness.alive;
  if (status.wonTransition) await tellOf(run.runId);
  if (status.derived.terminal) {
    const source = sourceOf(textOf(recordOf(status).get('terminal_source')));
    journal({ event: 'ended', run_id: run.runId, source, outcome: status.derived.outcome ?? 'unknown' });
    return 'settled';
  }
  if (status.refusal !== null) journal({ event: 'refused', run_id: run.runId, code: status.refusal.code });
  pause(engine, run, status.liveness.alive);
  return 'open';
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

function holdForSurvivors(engine: Engine, run: OpenRun, survivors: readonly number[]): boolean {
  if (survivors.length === 0) return false;
  run.goneSinceMs ??= engine.now();
  return engine.now() - run.goneSinceMs < SURVIVOR_GRACE_MS;
}

/** A run that is neither alive nor to be ended is asked about less and less; a change in it counts at once. */
function pause(engine: Engine, run: OpenRun, alive: boolean): void {
  run.failures = alive || run.goneSinceMs !== null ? 0 : run.failures + 1;
  const pauseMs =
    run.failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (run.failures - 1));
  run.notBeforeMs = engine.now() + pauseMs;
}

/** The first notice of a run that was ended here. */
export async function tell(engine: Engine, runId: string, journal: Journal): Promise<void> {
  const outcome = await attemptNotice(engine, runId, { role: 'winner' });
  if (outcome.kind === 'settled') {
    journal({ event: 'notice', run_id: runId, state: deliveryStateOf(outcome.delivery) });
  } else if (outcome.kind === 'refused') {
    journal({ event: 'refused', run_id: runId, code: 'notice_not_recorded' });
  }
}
