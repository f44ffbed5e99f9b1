import { LionError } from '../../shared/contract/errors.ts';
import { rowOf } from '../../shared/contract/row.ts';
import type { Engine } from '../../shared/engine.ts';
import { readUsage } from '../../shared/index/read-usage.ts';
import { readConsole } from '../../shared/output/console.ts';
import { usageOf } from '../../shared/output/usage.ts';
import { listRuns } from '../../shared/run/list.ts';
import { NO_FILTER } from '../../shared/run/list-filter.ts';
import { type RunStatus, recordOf } from '../../shared/run/status.ts';
import { observeRuns, type WaitEntry } from '../../shared/run/wait.ts';
import { listRunNames } from '../../shared/store/names.ts';
import type { WatchedRun } from '../render/watch.ts';

/** What one look found. */
export interface Sight {
  readonly runs: readonly WatchedRun[];
  /** As `job wait` has them, for its exit status. */
  readonly entries: readonly WaitEntry[];
  /** Why this look found nothing new; the runs are those of the look before. */
  readonly fault: string | null;
}

/** More open runs than anybody watches. */
const MOST_RUNS = 10_000;
/** So many of the newest names are looked at one by one at the start: a run may be in the making there. */
const NEWEST = 64;
const LAST_LINE_CHARS = 1_000;

/** Looks at the same runs again and again, or at all that are open, by the calls that status and wait use. */
export class Lookout {
  readonly #engine: Engine;
  /** Null: all that are open, and those that end meanwhile. */
  readonly #ids: readonly string[] | null;
  readonly #keepEndedMs: number;
  readonly #seenAlive = new Set<string>();
  /** Runs that were over before, or have been shown as ended long enough. */
  readonly #passed = new Set<string>();
  readonly #endedMs = new Map<string, number>();
  #isFirst = true;
  #last: Sight = { runs: [], entries: [], fault: null };

  constructor(engine: Engine, ids: readonly string[] | null, keepEndedMs: number) {
    this.#engine = engine;
    this.#ids = ids;
    this.#keepEndedMs = keepEndedMs;
  }

  /** The first look; what is wrong with it is wrong with the call. */
  async begin(): Promise<Sight> {
    if (this.#ids === null) await this.#passOverEnded();
    this.#last = await this.#look();
    this.#isFirst = false;
    return this.#last;
  }

  /** Another look. A store that cannot be read for a moment is no reason to stop watching it. */
  async again(): Promise<Sight> {
    try {
      this.#last = await this.#look();
    } catch (error) {
      if (!(error instanceof LionError)) throw error;
      this.#last = { ...this.#last, fault: error.message };
    }
    return this.#last;
  }

  async #passOverEnded(): Promise<void> {
    const names = listRunNames(this.#engine.home.jobsDir);
    const { rows } = await listRuns(this.#engine, {
      limit: MOST_RUNS,
      filter: { ...NO_FILTER, state: 'open' },
      afterRunId: null,
      useIndex: true,
    });
    const open = new Set(rows.map((row) => row.run_id));
    for (const name of names.slice(NEWEST)) if (!open.has(name)) this.#passed.add(name);
  }

  async #look(): Promise<Sight> {
    const ids = this.#ids ?? this.#named();
    const entries = await observeRuns(this.#engine, ids, this.#seenAlive);
    const nowMs = this.#engine.now();
    const found = entries.flatMap(({ status }) => (status === null ? [] : [status]));
    const shown = found.filter((status) => this.#isShown(status, nowMs));
    const runIds = shown.map(({ runId }) => runId);
    const usages = await readUsage(this.#engine.home.stateDir, runIds);
    const runs = shown.map((status): WatchedRun => {
      const { runId, derived } = status;
      return {
        runId,
        row: rowOf(this.#engine, status),
        usage: usageOf(usages, { runId, terminal: derived.terminal }, nowMs),
        logEnd: readConsole(recordOf(status).get('log'), LAST_LINE_CHARS).value ?? '',
      };
    });
    return { runs, entries, fault: null };
  }

  #named(): string[] {
    return listRunNames(this.#engine.home.jobsDir)
      .filter((name) => !this.#passed.has(name))
      .slice(0, MOST_RUNS);
  }

  /** Runs that were named always are; of all runs not those that were over before the first look. */
  #isShown({ runId, read, derived }: RunStatus, nowMs: number): boolean {
    if (this.#ids !== null) return true;
    // A reservation may become a run.
    if (read.state === 'absent') return false;
    if (!derived.terminal) return true;
    const endedMs = this.#isFirst ? Number.NEGATIVE_INFINITY : (this.#endedMs.get(runId) ?? nowMs);
    this.#endedMs.set(runId, endedMs);
    if (nowMs - endedMs <= this.#keepEndedMs) return true;
    this.#endedMs.delete(runId);
    this.#passed.add(runId);
    return false;
  }
}
