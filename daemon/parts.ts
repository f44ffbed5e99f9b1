import type { Engine } from '../shared/engine.ts';
import type { RunStatus } from '../shared/run/status.ts';
import type { Asleep } from './asleep.ts';
import type { Deliveries } from './deliveries.ts';
import type { Journal } from './journal.ts';
import type { Schedule } from './loop/schedule.ts';
import type { NoticeCounts } from './notice-counts.ts';
import type { Roster } from './roster.ts';

/** All that looking after a run touches. */
export interface Parts {
  readonly engine: Engine;
  readonly journal: Journal;
  readonly roster: Roster;
  readonly schedule: Schedule;
  readonly asleep: Asleep;
  readonly notices: NoticeCounts;
  readonly deliveries: Deliveries;
  readonly follow: (runId: string, watched: boolean) => void;
  readonly index: IndexSink;
}

/** Where rows go; without an index nowhere. */
export interface IndexSink {
  put(status: RunStatus, signature: string | null, settled: boolean): void;
  drop(runId: string): void;
}
