/**
 * The supervisor, first form: it finds every run that can still change, looks at their processes each second
 * and resolves the ones that are not plainly alive. It holds no truth: what it remembers speeds up the next
 * look, and a restart reads it all from disk again.
 */
import pLimit from 'p-limit';
import { LionError } from '../shared/contract/errors.ts';
import type { Engine } from '../shared/engine.ts';
import { readRecord } from '../shared/record/read.ts';
import { isOver } from '../shared/run/end.ts';
import { runDirOf } from '../shared/store/home.ts';
import { listRunNames } from '../shared/store/names.ts';
import { sleep } from '../shared/time/sleep.ts';
import type { Journal } from './journal.ts';
import { isPlainlyAlive, reconcile, tell } from './reconcile.ts';
import { newOpenRun, type OpenRun, recordSignatureOf, signatureOf } from './roster.ts';

const PROBE_INTERVAL_MS = 1_000;
/** Names are listed when the root has changed, and after this long whatever it says. */
const NAME_SWEEP_MS = 15_000;
/** Runs resolved side by side: one that waits for its lifecycle store holds up no other. */
const CONCURRENCY = 32;
const NOTICES_AT_ONCE = 8;

export interface Supervisor {
  /** Takes no new work up; resolves when what is under way has finished. */
  stop(): Promise<void>;
}

export function startSupervisor(engine: Engine, journal: Journal): Supervisor {
  const intake = new AbortController();
  const state = new State(engine, journal);
  state.scan();
  const loop = state.run(intake.signal);
  return {
    async stop() {
      intake.abort();
      const finished = state.stopped();
      await loop;
      await finished;
    },
  };
}

class State {
  readonly #open = new Map<string, OpenRun>();
  readonly #known = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #limit = pLimit(CONCURRENCY);
  readonly #notices = pLimit(NOTICES_AT_ONCE);
  #stopping = false;
  #rootSeen: string | null = null;
  #namesListedMs = 0;

  constructor(
    readonly engine: Engine,
    readonly journal: Journal,
  ) {}

  scan(): void {
    this.#sweepNames();
    this.journal({ event: 'scanned', runs: this.#known.size, open: this.#open.size });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedMs = performance.now();
      this.#sweepNames();
      for (const run of this.#open.values()) this.#consider(run);
      await sleep(Math.max(0, PROBE_INTERVAL_MS - (performance.now() - startedMs)), signal);
    }
  }

  async stopped(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#underWay);
  }

  #consider(run: OpenRun): void {
    if (run.busy || isPlainlyAlive(this.engine, run)) return;
    const changed = recordSignatureOf(runDirOf(this.engine.home, run.runId)) !== run.signature;
    if (!changed && this.engine.now() < run.notBeforeMs) return;
    run.busy = true;
    const work = this.#limit(() => this.#reconcile(run)).finally(() => {
      run.busy = false;
      this.#underWay.delete(work);
    });
    this.#underWay.add(work);
  }

  /** One run's fault is one line in the journal; the others go on. */
  async #reconcile(run: OpenRun): Promise<void> {
    if (this.#stopping) return;
    try {
      const outcome = await reconcile(this.engine, run, this.journal, (runId) => this.#tell(runId));
      if (outcome === 'settled') this.#open.delete(run.runId);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.journal({ event: 'fault', run_id: run.runId, message });
      run.notBeforeMs = this.engine.now() + NAME_SWEEP_MS;
    }
  }

  /** What had not begun when we were told to stop stays owed on the record. */
  #tell(runId: string): Promise<void> {
    return this.#notices(() => (this.#stopping ? Promise.resolve() : tell(this.engine, runId, this.journal)));
  }

  #sweepNames(): void {
    const root = signatureOf(this.engine.home.jobsDir);
    const due = performance.now() - this.#namesListedMs >= NAME_SWEEP_MS || this.#namesListedMs === 0;
    if (root === this.#rootSeen && !due) return;
    this.#rootSeen = root;
    this.#namesListedMs = performance.now();
    const names = new Set(this.#listNames());
    for (const name of names) if (!this.#known.has(name)) this.#admit(name);
    for (const name of this.#known) if (!names.has(name)) this.#forget(name);
  }

  #listNames(): string[] {
    try {
      return listRunNames(this.engine.home.jobsDir);
    } catch (error) {
      if (!(error instanceof LionError)) throw error;
      this.journal({ event: 'fault', run_id: null, message: error.message });
      return [...this.#known];
    }
  }

  #admit(name: string): void {
    this.#known.add(name);
    const read = readRecord(runDirOf(this.engine.home, name));
    const ended = read.state === 'ok' && isOver(read.object.value);
    if (!ended) this.#open.set(name, newOpenRun(name));
  }

  #forget(name: string): void {
    this.#known.delete(name);
    this.#open.delete(name);
  }
}
