/**
 * The supervisor: loops around the engine. Everything that has a reason to look at a run (start, watch, probe,
 * sweep, timer) adds its id to one queue; `reconcile` does the rest. The sweeps are what makes it right, watching
 * only makes it prompt, and nothing it remembers is worth more than the time to read it again.
 *
 *   each second   is each open run plainly alive? which looks are due? root, configuration, settings the same?
 *   15 s          which names came and went (listed only where the root has changed)
 *   10 min        the signature of every record, and the names whatever the root says
 *   desync        all of that at once: events lost, clock or process stood still, root another
 */
import type { Degradation } from '../shared/daemon/health.ts';
import type { Engine } from '../shared/engine.ts';
import { runDirOf } from '../shared/store/home.ts';
import { recordSignatureOf } from '../shared/store/signature.ts';
import { Asleep } from './asleep.ts';
import { ConfigWatch } from './config-watch.ts';
import { Degradations } from './degradations.ts';
import { Deliveries } from './deliveries.ts';
import { type Figures, HealthReport } from './health-report.ts';
import { Indexing } from './index/indexing.ts';
import type { Journal } from './journal.ts';
import { isPlainlyAlive } from './look.ts';
import { inSlices } from './loop/in-slices.ts';
import { Schedule } from './loop/schedule.ts';
import { type Tick, tick } from './loop/ticker.ts';
import { WorkQueue } from './loop/work-queue.ts';
import { type Chore, Maintenance } from './maintenance.ts';
import { NoticeCounts } from './notice-counts.ts';
import type { Parts } from './parts.ts';
import { reconcile } from './reconcile.ts';
import { retentionChore } from './retention.ts';
import { Roster } from './roster.ts';
import { NAME_SWEEP_MS, Sweeper } from './sweeper.ts';
import { sampleUsage } from './usage/sample-usage.ts';
import { Watching } from './watch/watching.ts';

const PROBE_INTERVAL_MS = 1_000;
/** The index, the files of the supervisor itself and missed chores are seen to this often. */
const KEEP_INTERVAL_MS = 5_000;
/** Runs looked at side by side: one that waits for its lifecycle store holds up no other. */
const CONCURRENCY = 32;

export interface Supervisor {
  /** Takes no new work up; resolves when what is under way has finished. */
  stop(): Promise<void>;
}

/** @param otherFaults what is amiss outside the loops, for the health file. */
export function startSupervisor(
  engine: Engine,
  journal: Journal,
  otherFaults: () => readonly Degradation[],
): Supervisor {
  const intake = new AbortController();
  const loops = new Loops(engine, journal, intake.signal, otherFaults);
  const running = loops.run();
  return {
    async stop() {
      intake.abort();
      await running;
      await loops.stop();
    },
  };
}

class Loops {
  readonly #engine: Engine;
  readonly #roster = new Roster();
  readonly #schedule = new Schedule();
  readonly #asleep = new Asleep();
  readonly #config: ConfigWatch;
  readonly #degradations: Degradations;
  readonly #watching: Watching;
  readonly #queue: WorkQueue;
  readonly #indexing: Indexing;
  readonly #maintenance: Maintenance;
  readonly #notices = new NoticeCounts();
  readonly #health: HealthReport;
  readonly #parts: Parts;
  readonly #sweeper: Sweeper;

  constructor(
    engine: Engine,
    readonly journal: Journal,
    readonly signal: AbortSignal,
    otherFaults: () => readonly Degradation[],
  ) {
    this.#degradations = new Degradations(journal);
    this.#config = new ConfigWatch(engine, journal, this.#degradations);
    this.#engine = this.#config.engine;
    this.#health = new HealthReport(this.#engine, this.#degradations, otherFaults);
    this.#queue = new WorkQueue({
      concurrency: CONCURRENCY,
      work: (runId) => reconcile(this.#parts, runId),
      onFault: (runId, error, pauseMs) => this.#onFault(runId, error, pauseMs),
    });
    this.#watching = new Watching(this.#engine, this.#degradations, {
      onRun: (runId) => this.#lookIfChanged(runId),
      onRootMoved: () => this.#sweeper.doubtRoot(),
      onDesync: (why) => this.#sweeper.desync(why),
    });
    this.#indexing = new Indexing(this.#engine, this.#degradations, {
      onLook: (runId) => this.#queue.add(runId),
      onRebuild: (why) => this.#sweeper.desync(`the index is to be built anew (${why})`, 'look at all'),
    });
    this.#sweeper = new Sweeper(this.#engine, journal, this.#roster, this.#degradations, {
      onLook: (runId) => this.#queue.add(runId),
      onRootReplaced: () => this.#watching.rearm(this.#aliveRunIds()),
      onListing: (root) => this.#indexing.listingBegins(root),
      onSwept: (what) => {
        this.#health.did(what);
        if (what === 'stats_at') this.#watching.tryAgain(this.#aliveRunIds());
      },
    });
    this.#maintenance = new Maintenance(this.#chores(), journal, signal);
    this.#parts = {
      engine: this.#engine,
      journal,
      roster: this.#roster,
      schedule: this.#schedule,
      asleep: this.#asleep,
      notices: this.#notices,
      deliveries: new Deliveries(this.#engine, journal, this.#degradations, (runId, pauseMs) =>
        this.#schedule.at(runId, this.#engine.now() + pauseMs),
      ),
      follow: (runId, watched) => this.#watching.follow(runId, watched),
      index: this.#indexing,
    };
  }

  async run(): Promise<void> {
    this.#watching.rearm([]);
    await this.#indexing.check();
    await this.#indexing.fill(this.#roster, this.signal);
    await this.#sweeper.sweep(this.signal);
    await Promise.all([
      this.#queue.begun(this.signal).then(() => this.#sayScanned()),
      tick(PROBE_INTERVAL_MS, this.signal, (each) => this.#probe(each)),
      tick(PROBE_INTERVAL_MS, this.signal, () => this.#sweeper.sweep(this.signal)),
      tick(KEEP_INTERVAL_MS, this.signal, () => this.#keep()),
      tick(NAME_SWEEP_MS, this.signal, () => this.#wake()),
      sampleUsage(this.#engine, this.#roster, this.#indexing, this.journal, this.signal),
    ]);
  }

  async stop(): Promise<void> {
    this.#watching.close();
    await Promise.all([this.#queue.stop(), this.#parts.deliveries.stop(), this.#maintenance.stop()]);
    await this.#indexing.close();
  }

  #sayScanned(): void {
    this.journal({ event: 'scanned', runs: this.#roster.size, open: this.#roster.openCount });
  }

  async #probe({ afterGap }: Tick): Promise<void> {
    if (afterGap) this.#sweeper.desync('the process or the machine stood still');
    if (await this.#config.refresh()) this.#watching.reconfigure(this.#aliveRunIds());
    const nowMs = this.#engine.now();
    // A clock that was set back leaves times ahead that nobody meant: each is decided anew.
    for (const runId of this.#schedule.take(afterGap ? Number.POSITIVE_INFINITY : nowMs))
      this.#queue.add(runId);
    await inSlices(this.#roster.open(), this.signal, ([runId, run]) => {
      if (afterGap) run.notBeforeMs = 0;
      if (isPlainlyAlive(this.#engine, runId, run)) return;
      if (nowMs >= run.notBeforeMs || this.#hasChanged(runId)) this.#queue.add(runId);
    });
    this.#health.did('probed_at');
    this.#health.writeIfDue(() => this.#figures());
  }

  #figures(): Figures {
    return {
      runs: this.#roster.size,
      open: this.#roster.openCount,
      queue: this.#queue.waiting,
      watches: this.#watching.count,
      notices: { under_way: this.#parts.deliveries.underWay, ...this.#notices.counts() },
    };
  }

  /** What is neither a run nor a sweep: the index, chores that were missed. */
  async #keep(): Promise<void> {
    await this.#indexing.check();
    if (this.#isIdle()) this.#indexing.allIsIn(this.#roster);
    this.#maintenance.tick();
  }

  #isIdle(): boolean {
    return this.#queue.waiting === 0 && this.#queue.underWay === 0;
  }

  #chores(): Chore[] {
    return [
      {
        name: 'check_index',
        at: '17 * * * *',
        everyMs: 3_600_000,
        run: (signal) => this.#indexing.deepCheck(this.#roster, signal),
      },
      {
        name: 'pack_index',
        at: '* * * * *',
        everyMs: 60_000,
        // While rows come in every one would undo a block.
        run: async (signal) => (this.#isIdle() ? this.#indexing.pack(signal) : undefined),
      },
      {
        name: 'checkpoint_index',
        at: '*/10 * * * *',
        everyMs: 600_000,
        run: async () => this.#indexing.checkpoint(),
      },
      retentionChore(this.#engine, this.journal),
    ];
  }

  /** Notices that wait for other settings. */
  async #wake(): Promise<void> {
    for (const runId of this.#asleep.awoken(this.#engine)) this.#queue.add(runId);
  }

  /** A hint of a file event: what is as it was last read needs no look. */
  #lookIfChanged(runId: string): void {
    if (!this.#roster.has(runId) || this.#hasChanged(runId)) this.#queue.add(runId);
  }

  #hasChanged(runId: string): boolean {
    return recordSignatureOf(runDirOf(this.#engine.home, runId)) !== this.#roster.signatureOf(runId);
  }

  *#aliveRunIds(): Generator<string> {
    for (const [runId, run] of this.#roster.open()) if (run.pid !== null) yield runId;
  }

  /** One run's fault is one line in the journal; the others go on. */
  #onFault(runId: string, error: unknown, pauseMs: number): void {
    const message = error instanceof Error ? error.message : String(error);
    this.journal({ event: 'fault', run_id: runId, message });
    this.#schedule.at(runId, this.#engine.now() + pauseMs);
  }
}
