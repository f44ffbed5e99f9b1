import { join } from 'node:path';
import pino from 'pino';
import type { Degradation } from '../shared/daemon/health.ts';
import { printable, printableBlock } from '../shared/printable.ts';
import { LogFile } from './log-file.ts';

/** What the supervisor tells of: names of runs and words from closed sets, never what a run or notifier said. */
export type Event =
  | { readonly event: 'started'; readonly jobs_dir: string; readonly version: string; readonly pid: number }
  | { readonly event: 'scanned'; readonly runs: number; readonly open: number }
  | { readonly event: 'ended'; readonly run_id: string; readonly source: string; readonly outcome: string }
  | {
      readonly event: 'attempt';
      readonly run_id: string;
      readonly delivery_id: string;
      readonly attempt: number;
    }
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
  | ({ readonly event: 'degraded' } & Degradation)
  | { readonly event: 'recovered'; readonly code: string }
  | { readonly event: 'instance_retaken' }
  | { readonly event: 'desynced'; readonly why: string }
  | { readonly event: 'config_reloaded' }
  | { readonly event: 'config_refused'; readonly message: string }
  | { readonly event: 'stopping'; readonly reason: string }
  | { readonly event: 'stopped' }
  /** The last word of a process that could not start, crashed, or did not wait for what was under way. */
  | {
      readonly event: 'fatal';
      readonly exit_code: number;
      readonly message: string;
      readonly stack?: string;
    };

export type Journal = (event: Event) => void;

export interface OpenJournal extends Journal {
  /** Call it every few seconds: a log that was renamed or removed is made anew, one that failed is tried again. */
  tick(): void;
  /** For the health file, while the log cannot be written. */
  degraded(): Degradation | null;
  close(): void;
}

/** Where an event's sentence goes beside the log. */
export interface Onlookers {
  readonly say: (line: string) => void;
  /** For `fatal`, and for a log that cannot be written. */
  readonly complain: (line: string) => void;
}

const MAX_LOG_BYTES = 10 * 1024 * 1024;
const RECOVERED = { event: 'recovered', code: 'log_unwritable' } as const;

/**
 * Structured lines in `<state dir>/liond.log`, on disk before the call returns, and a sentence for whoever looks
 * on. Never throws for a log that cannot be written: that is said once, and again when it can.
 */
export function openJournal(stateDir: string, { say, complain }: Onlookers): OpenJournal {
  const file = new LogFile(join(stateDir, 'liond.log'), MAX_LOG_BYTES);
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, file);
  let degradation: Degradation | null = null;

  const show = (event: Event): void => {
    if (event.event === 'fatal') complain(printableBlock(sentence(event)));
    else say(printable(sentence(event)));
  };
  const recover = (): void => {
    log.info(RECOVERED);
    if (file.fault !== null) return;
    degradation = null;
    show(RECOVERED);
  };
  const journal = (event: Event): void => {
    log[levelOf(event)](event);
    show(event);
    if (file.fault === null) {
      if (degradation !== null) recover();
    } else if (degradation === null) {
      degradation = unwritable(file.path, file.fault);
      complain(printable(sentence({ event: 'degraded', ...degradation })));
    }
  };
  return Object.assign(journal, {
    tick() {
      file.lookAtPath();
      if (degradation !== null) recover();
    },
    degraded: () => degradation,
    close: () => file.close(),
  });
}

function unwritable(path: string, errno: string): Degradation {
  return {
    code: 'log_unwritable',
    cause: `${path} cannot be written: ${errno}`,
    cure: 'make room or give it back; nothing else waits for it, and it is tried again by itself',
  };
}

function levelOf(event: Event): 'info' | 'warn' | 'error' | 'fatal' {
  switch (event.event) {
    case 'fatal':
      return 'fatal';
    case 'fault':
    case 'config_refused':
      return 'error';
    case 'degraded':
    case 'desynced':
    case 'instance_retaken':
      return 'warn';
    default:
      return 'info';
  }
}

function sentence(event: Event): string {
  switch (event.event) {
    case 'started':
      return `liond ${event.version} (pid ${event.pid}) looks after the runs in ${event.jobs_dir}; Ctrl-C stops it, no run ends with it`;
    case 'scanned':
      return `${event.runs} runs, ${event.open} of them not ended: their processes are looked at every second`;
    case 'ended':
      return `${event.run_id} has ended: ${event.outcome} (${event.source})`;
    case 'attempt':
      return `${event.run_id} notice: attempt ${event.attempt} (${event.delivery_id})`;
    case 'notice':
      return `${event.run_id} notice: ${[event.state, nextOf(event)].filter(Boolean).join(', ')}`;
    case 'refused':
      return `${event.run_id} could not be written (${event.code}); trying again`;
    case 'fault':
      return `fault${event.run_id === null ? '' : ` at ${event.run_id}`}: ${event.message}`;
    case 'degraded':
      return `degraded (${event.code}): ${event.cause}; ${event.cure}`;
    case 'recovered':
      return `recovered (${event.code})`;
    case 'instance_retaken':
      return 'instance.lock was removed or replaced and has been taken again';
    case 'desynced':
      return `events may have been missed (${event.why}): everything is looked at again`;
    case 'config_reloaded':
      return 'liond.yaml was read again';
    case 'config_refused':
      return `going on with the last good liond.yaml: ${event.message}`;
    case 'stopping':
      return `stopping (${event.reason}); notices on their way are let finish, a second signal does not wait`;
    case 'stopped':
      return 'stopped';
    case 'fatal':
      return event.stack ?? event.message;
  }
}

function nextOf({ next, parked }: Extract<Event, { event: 'notice' }>): string | null {
  return parked === undefined ? next : `${next} (${parked})`;
}
