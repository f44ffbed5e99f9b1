/**
 * What is to be done about one run, from what was seen of it. Pure: the reconciler looks, this decides, the
 * reconciler acts. Ending a gone run is not decided here: the engine's one status path does that, for readers
 * and supervisor alike, and what is seen here is its answer.
 */
import type { NoticeStep, ParkReason } from '../shared/notify/next-step.ts';

export interface Seen {
  /** There is a directory of this name. */
  readonly present: boolean;
  readonly state: 'ended' | 'alive' | 'not_alive' | 'no_record';
  /** This look ended the run: its first notice is ours to send. */
  readonly won: boolean;
  /** Of the notice, where the run has ended. */
  readonly step: NoticeStep | null;
  /** Its notice is on its way from here: what follows is decided when that is over, whatever its claim's deadline. */
  readonly sending: boolean;
  /** Its notice did not get through, or may not have: a restart must know of it without being told. */
  readonly undelivered: boolean;
  /** For `asleep`: the settings are others by now. */
  readonly settingsChanged: boolean;
  /** When the record was last changed, epoch milliseconds; null: there is none. */
  readonly changedMs: number | null;
  /** When the run's directory was last changed, epoch milliseconds. */
  readonly directoryChangedMs: number | null;
  /** The record is so young that a further change might not show in its signature. */
  readonly racy: boolean;
  /** Looks in a row that found it neither alive nor ended. */
  readonly fruitless: number;
  /** Its end waits for processes of it that live on. */
  readonly held: boolean;
}

export type Action =
  | { readonly do: 'forget' }
  /** Follow its record with a watch, or let go of it. */
  | { readonly do: 'watch'; readonly watched: boolean }
  | { readonly do: 'look_again'; readonly atMs: number }
  | { readonly do: 'send'; readonly won: boolean }
  | { readonly do: 'adopt' }
  | { readonly do: 'park'; readonly reason: ParkReason }
  | { readonly do: 'await_settings' }
  /** `settled`: a reader may take the row as it is while the file is the same. */
  | { readonly do: 'index'; readonly settled: boolean };

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A reservation this young may become a run at any moment, so it is watched. */
const YOUNG_MS = 10 * 60_000;
/** A record that nobody wrote to for so long, with all said, is history. */
const SETTLES_AFTER_MS = 15 * 60_000;
const RACY_LOOK_MS = 2_500;

export function decide(seen: Seen, nowMs: number): Action[] {
  if (!seen.present) return [{ do: 'forget' }];
  return seen.state === 'ended' ? decideEnded(seen, nowMs) : decideOpen(seen, nowMs);
}

function decideOpen(seen: Seen, nowMs: number): Action[] {
  const young = seen.directoryChangedMs !== null && nowMs - seen.directoryChangedMs < YOUNG_MS;
  return [
    { do: 'watch', watched: seen.state === 'alive' || young },
    { do: 'index', settled: false },
    { do: 'look_again', atMs: nowMs + pauseMs(seen) },
  ];
}

/** A run that is neither alive nor to be ended is asked about less and less; a change in it counts at once. */
function pauseMs(seen: Seen): number {
  if (seen.state === 'alive' || seen.held) return FIRST_PAUSE_MS;
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, seen.fruitless - 1));
}

function decideEnded(seen: Seen, nowMs: number): Action[] {
  const actions: Action[] = [{ do: 'watch', watched: false }, ...noticeActions(seen)];
  // What was written in the future, before a clock was set back, stays racy until then: it is left to the sweeps.
  if (seen.racy && (seen.changedMs ?? 0) <= nowMs + RACY_LOOK_MS) {
    actions.push({ do: 'look_again', atMs: nowMs + RACY_LOOK_MS });
  }
  const isOld = seen.changedMs !== null && nowMs - seen.changedMs >= SETTLES_AFTER_MS;
  const settled = seen.step?.kind === 'settled' && isOld && !seen.undelivered;
  return [...actions, { do: 'index', settled }];
}

function noticeActions(seen: Seen): Action[] {
  if (seen.sending) return [];
  if (seen.won) return [{ do: 'send', won: true }];
  const step = seen.step;
  switch (step?.kind) {
    case 'attempt':
      return [{ do: 'send', won: false }];
    case 'asleep':
      return [seen.settingsChanged ? { do: 'send', won: false } : { do: 'await_settings' }];
    case 'adopt':
      return [{ do: 'adopt' }];
    case 'park':
      return [{ do: 'park', reason: step.reason }];
    case 'wait':
      return [{ do: 'look_again', atMs: step.untilMs }];
    default:
      return [];
  }
}
