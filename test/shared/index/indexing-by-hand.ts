import { Asleep } from '../../../daemon/asleep.ts';
import { Degradations } from '../../../daemon/degradations.ts';
import { Deliveries } from '../../../daemon/deliveries.ts';
import type { BlockShape } from '../../../daemon/index/blocks.ts';
import { Indexing } from '../../../daemon/index/indexing.ts';
import { Schedule } from '../../../daemon/loop/schedule.ts';
import { NoticeCounts } from '../../../daemon/notice-counts.ts';
import type { Parts } from '../../../daemon/parts.ts';
import { reconcile } from '../../../daemon/reconcile.ts';
import { Roster } from '../../../daemon/roster.ts';
import { sweepNames, sweepStats } from '../../../daemon/sweep.ts';
import type { Engine } from '../../../shared/engine.ts';
import { isRacy, sign } from '../../../shared/store/signature.ts';
import { sleep } from '../../../shared/time/sleep.ts';

export interface Round {
  /** The signature of every record is compared too. */
  readonly stats: boolean;
  /** Only so many of the runs are looked at before it is stopped; null: all of them. */
  readonly looks: number | null;
  readonly blocks?: BlockShape;
}

/** So that a store of a few runs has several. */
const SMALL_BLOCKS: BlockShape = { runs: 3, unsettled: 1 };

/** Longer than the grain of a file system's clock: what is changed after a round shows. */
const GRAIN_MS = 12;

/** What the supervisor does for its index, step by step and without its loops and timers. */
export class IndexingByHand {
  readonly #engine: Engine;
  readonly #queue = new Set<string>();
  readonly #roster = new Roster();
  readonly #indexing: Indexing;
  readonly #parts: Parts;
  #isAllWanted = false;
  #isFirst = true;

  constructor(engine: Engine) {
    this.#engine = engine;
    const journal = (): void => {};
    const degradations = new Degradations(journal);
    this.#indexing = new Indexing(engine, degradations, {
      onLook: (runId) => this.#queue.add(runId),
      onRebuild: () => {
        this.#isAllWanted = true;
      },
    });
    this.#parts = {
      engine,
      journal,
      roster: this.#roster,
      schedule: new Schedule(),
      asleep: new Asleep(),
      notices: new NoticeCounts(),
      deliveries: new Deliveries(engine, journal, degradations, () => {}),
      follow: () => {},
      index: this.#indexing,
    };
  }

  async round({ stats, looks, blocks = SMALL_BLOCKS }: Round): Promise<void> {
    const { home, signal } = this.#engine;
    await sleep(GRAIN_MS, signal);
    await this.#indexing.check();
    if (this.#isFirst) await this.#indexing.fill(this.#roster, signal);
    const root = sign(home.jobsDir);
    const isProof = root !== null && !isRacy(root, this.#engine.now());
    this.#indexing.listingBegins(isProof ? root.signature : null);
    const look = (runId: string): void => void this.#queue.add(runId);
    await sweepNames(home, this.#roster, signal, look);
    if (this.#isAllWanted) for (const runId of this.#roster.names()) look(runId);
    else if (stats || this.#isFirst) await sweepStats(home, this.#roster, signal, look);
    this.#isAllWanted = false;
    this.#isFirst = false;
    if (await this.#work(looks ?? Number.POSITIVE_INFINITY)) this.#indexing.allIsIn(this.#roster);
    await this.#indexing.pack(signal, blocks);
    await sleep(GRAIN_MS, signal);
  }

  async close(): Promise<void> {
    await this.#indexing.close();
  }

  /** @returns whether nothing is left to be looked at. */
  async #work(looks: number): Promise<boolean> {
    let left = looks;
    for (const runId of this.#queue) {
      if (left-- <= 0) return false;
      this.#queue.delete(runId);
      await reconcile(this.#parts, runId);
    }
    return true;
  }
}
