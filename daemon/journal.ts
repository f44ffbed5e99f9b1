import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { errnoOf } from '../shared/errno.ts';
import { printable } from '../shared/printable.ts';
import type { Home } from '../shared/store/home.ts';

/** What the supervisor tells of: names of runs and words from closed sets, never what a run or notifier said. */
export type Event =
  | { readonly event: 'started'; readonly jobs_dir: string; readonly version: string; readonly pid: number }
  | { readonly event: 'scanned'; readonly runs: number; readonly open: number }
  | { readonly event: 'ended'; readonly run_id: string; readonly source: string; readonly outcome: string }
  | {
      readonly event: 'notice';
      readonly run_id: string;
      readonly state: string;
      /** What follows by itself; null: nothing. */
      readonly next: string | null;
      /** Why nothing does, where it was not got through. */
      readonly parked?: string;
    }
  | { readonly event: 'refused'; readonly run_id: string; readonly code: string }
  | { readonly event: 'fault'; readonly run_id: string | null; readonly message: string }
  | {
      readonly event: 'attempt';
      readonly run_id: string;
      readonly delivery_id: string;
      readonly attempt: number;
    }
  | { readonly event: 'degraded'; readonly code: string; readonly cause: string; readonly cure: string }
  | { readonly event: 'recovered'; readonly code: string }
  | { readonly event: 'desynced'; readonly why: string }
  | { readonly event: 'config_reloaded' }
  | { readonly event: 'stopping'; readonly reason: string }
  | { readonly event: 'stopped' };

export type Journal = (event: Event) => void;

/** Structured lines in the log file, written before the call returns, and a sentence for whoever looks on. */
export function openJournal(home: Home, say: (line: string) => void): Journal {
  mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
  const destination = pino.destination({ dest: join(home.stateDir, 'liond.log'), sync: true, mode: 0o600 });
  // A log that cannot be written (a full disk) is said once, and supervision goes on.
  let isTold = false;
  destination.on('error', (error: unknown) => {
    if (!isTold) say(`liond.log cannot be written: ${errnoOf(error) ?? String(error)}`);
    isTold = true;
  });
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  return (event) => {
    if (event.event === 'fault') log.error(event);
    else log.info(event);
    say(printable(sentence(event)));
  };
}

function sentence(event: Event): string {
  switch (event.event) {
    case 'started':
      return `liond ${event.version} (pid ${event.pid}) looks after the runs in ${event.jobs_dir}; Ctrl-C stops it, no run ends with it`;
    case 'scanned':
      return `${event.runs} runs, ${event.open} of them not ended: their processes are looked at every second`;
    case 'ended':
      return `${event.run_id} has ended: ${event.outcome} (${event.source})`;
    case 'notice':
      return `${event.run_id} notice: ${[event.state, nextOf(event)].filter(Boolean).join(', ')}`;
    case 'refused':
      return `${event.run_id} could not be written (${event.code}); trying again`;
    case 'fault':
      return `fault${event.run_id === null ? '' : ` at ${event.run_id}`}: ${event.message}`;
    case 'attempt':
      return `${event.run_id} sending its notice, attempt ${event.attempt}, delivery id ${event.delivery_id}`;
    case 'degraded':
      return `degraded, ${event.code}: ${event.cause}; ${event.cure}`;
    case 'recovered':
      return `no longer degraded: ${event.code}`;
    case 'desynced':
      return `looking at everything again: ${event.why}`;
    case 'config_reloaded':
      return 'liond.yaml was read again';
    case 'stopping':
      return `stopping (${event.reason}); notices on their way are let finish, a second signal does not wait`;
    case 'stopped':
      return 'stopped';
  }
}

function nextOf({ next, parked }: Extract<Event, { event: 'notice' }>): string | null {
  return parked === undefined ? next : `${next} (${parked})`;
}
