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
import { errnoOf } from '../shared/errno.ts';
import { runDirOf } from '../shared/store/home.ts';
import { isRacy, recordSignatureOf, type Signed, sign } from '../shared/store/signature.ts';
import { sleep } from '../shared/time/sleep.ts';
import { Asleep } from './asleep.ts';
import { ConfigWatch } from './config-watch.ts';
import { Degradations } from './degradations.ts';
import { Deliveries } from './deliveries.ts';
import { type Figures, HealthReport } from './health-report.ts';
import { Indexing } from './index/indexing.ts';
import type { Journal } from './journal.ts';
import { inSlices } from './loop/in-slices.ts';
import { Period } from './loop/period.ts';
import { Schedule } from './loop/schedule.ts';
import { type Tick, tick } from './loop/ticker.ts';
import { WorkQueue } from './loop/work-queue.ts';
import { type Chore, Maintenance } from './maintenance.ts';
import { NoticeCounts } from './notice-counts.ts';
import { isPlainlyAlive, type Parts, reconcile } from './reconcile.ts';
import { Roster } from './roster.ts';
import { sweepNames, sweepStats } from './sweep.ts';
import { type RunToSample, UsageKeeper } from './usage/usage-keeper.ts';
import { Watching } from './watch/watching.ts';

const PROBE_INTERVAL_MS = 1_000;
const NAME_SWEEP_MS = 15_000;
const STAT_SWEEP_MS = 10 * 60_000;
/** The index, the files of the supervisor itself and missed chores are seen to this often. */
const KEEP_INTERVAL_MS = 5_000;
/** Whether sampling has been switched on again. */
const USAGE_OFF_LOOK_MS = 15_000;
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
  readonly #usage = new UsageKeeper();
  readonly #notices = new NoticeCounts();
  readonly #health: HealthReport;
  readonly #parts: Parts;
  readonly #names = new Period(NAME_SWEEP_MS);
  readonly #stats = new Period(STAT_SWEEP_MS);
  readonly #sleepers = new Period(NAME_SWEEP_MS);
  /** Of the root when its names were last listed; null: they are to be listed again. */
  #rootSwept: string | null = null;
  /** Device and inode; undefined before the first look. */
  #rootIdentity: string | null | undefined;
  #hasSwept = false;
  #isDesynced = false;
  /** Not only what differs: every run, as for an index that has none. */
  #isAllWanted = false;

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
      onDesync: (why) => this.#desync(why),
    });
    this.#indexing = new Indexing(this.#engine, this.#degradations, {
      onLook: (runId) => this.#queue.add(runId),
      onRebuild: (why) => {
        // The first sweep looks at everything anyway.
        if (this.#hasSwept) this.#desync(`the index is to be built anew (${why})`, 'look at all');
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
    await this.#sweep();
    this.#hasSwept = true;
    await Promise.all([
      this.#queue.begun(this.signal).then(() => this.#sayScanned()),
      tick(PROBE_INTERVAL_MS, this.signal, (each) => this.#probe(each)),
      tick(PROBE_INTERVAL_MS, this.signal, () => this.#sweep()),
      tick(KEEP_INTERVAL_MS, this.signal, () => this.#keep()),
      this.#sampleUsage(),
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
    if (afterGap) this.#desync('the process or the machine stood still');
    if (await this.#config.refresh()) this.#watching.rearm(this.#aliveRunIds());
    const nowMs = this.#engine.now();
    for (const runId of this.#schedule.take(nowMs)) this.#queue.add(runId);
    await inSlices(this.#roster.open(), this.signal, ([runId, run]) => {
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

  async #sweep(): Promise<void> {
    const beganMs = performance.now();
    const root = sign(this.#engine.home.jobsDir);
    this.#noticeRoot(root);
    if (this.#sleepers.isDue(beganMs)) this.#wakeSleepers();
    const statsDue = this.#isDesynced || this.#stats.isDue(beganMs);
    const isRootNew = root === null || root.signature !== this.#rootSwept;
    if (!statsDue && !(isRootNew && this.#names.isDue(beganMs))) return;
    this.#isDesynced = false;
    this.#names.restart(beganMs);
    // A root that changed a moment ago may change again within the grain of its clock: it counts as changed.
    this.#rootSwept = root === null || isRacy(root, this.#engine.now()) ? null : root.signature;
    this.#indexing.listingBegins(this.#rootSwept);
    await this.#sweepNames();
    this.#health.did('names_at');
    if (!statsDue) return;
    this.#stats.restart(beganMs);
    this.#watching.tryAgain();
    await this.#sweepRecords();
    this.#health.did('stats_at');
  }

  async #sweepRecords(): Promise<void> {
    const look = (runId: string): void => this.#queue.add(runId);
    if (!this.#isAllWanted) return sweepStats(this.#engine.home, this.#roster, this.signal, look);
    this.#isAllWanted = false;
    return inSlices(this.#roster.names(), this.signal, look);
  }

  /** What is neither a run nor a sweep: the index, chores that were missed. */
  async #keep(): Promise<void> {
    await this.#indexing.check();
    if (this.#queue.waiting === 0 && this.#queue.underWay === 0) this.#indexing.allIsIn(this.#roster);
    this.#maintenance.tick();
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
        name: 'checkpoint_index',
        at: '*/10 * * * *',
        everyMs: 600_000,
        run: async () => this.#indexing.checkpoint(),
      },
    ];
  }

  async #sampleUsage(): Promise<void> {
    while (!this.signal.aborted) {
      const { usageIntervalMs } = this.#engine.config;
      if (usageIntervalMs > 0) await this.#sampleOnce();
      await sleep(usageIntervalMs || USAGE_OFF_LOOK_MS, this.signal);
    }
  }

  /** A meter that cannot be read costs its sample and nothing else. */
  async #sampleOnce(): Promise<void> {
    try {
      this.#indexing.putUsage(await this.#usage.sample(runsToSample(this.#roster), this.signal));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.journal({ event: 'fault', run_id: null, message: `usage: ${message}` });
    }
  }

  async #sweepNames(): Promise<void> {
    try {
      await sweepNames(this.#engine.home, this.#roster, this.signal, (runId) => this.#queue.add(runId));
      this.#degradations.clear('root_unreadable');
    } catch (error) {
      const code = errnoOf(error);
      if (code === null) throw error;
      // A root that is gone has no runs: those that were known are looked at, and found gone.
      if (code === 'ENOENT') await inSlices(this.#roster.names(), this.signal, (id) => this.#queue.add(id));
      else this.#degradations.set(unreadable(this.#engine.home.jobsDir, code));
    }
  }

  /** A directory that was replaced is watched by nobody, and holds other runs. */
  #noticeRoot(root: Signed | null): void {
    const identity = root === null ? null : root.signature.split('.').slice(0, 2).join('.');
    if (identity === null) this.#degradations.set(missing(this.#engine.home.jobsDir));
    else this.#degradations.clear('root_missing');
    if (identity === this.#rootIdentity) return;
    const isFirst = this.#rootIdentity === undefined;
    this.#rootIdentity = identity;
    if (isFirst) return;
    this.#desync('the jobs directory is another one');
    this.#watching.rearm(this.#aliveRunIds());
  }

  #desync(why: string, how: 'what differs' | 'look at all' = 'what differs'): void {
    if (!this.#isDesynced) this.journal({ event: 'desynced', why });
    this.#isDesynced = true;
    this.#isAllWanted ||= how === 'look at all';
  }

  #wakeSleepers(): void {
    this.#sleepers.restart(performance.now());
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

function runsToSample(roster: Roster): RunToSample[] {
  return [...roster.open()].flatMap(([runId, { pid, groupId }]) =>
    pid === null || groupId === null ? [] : [{ runId, pid, pgid: groupId }],
  );
}

function missing(jobsDir: string): Degradation {
  return {
    code: 'root_missing',
    cause: `${jobsDir} is not there, so there are no runs to look after`,
    cure: 'it is looked for each second; submit a run, or put the directory back',
  };
}

function unreadable(jobsDir: string, errno: string): Degradation {
  return {
    code: 'root_unreadable',
    cause: `${jobsDir} cannot be listed (${errno}); runs that are known go on being looked after`,
    cure: 'see its permissions and its filesystem',
  };
}
