import type { Engine } from '../../shared/engine.ts';
import { errnoOf } from '../../shared/errno.ts';
import type { UsageSample } from '../../shared/index/read-usage.ts';
import { listTouched, type Marker, removeTouched } from '../../shared/index/touched.ts';
import type { RunStatus } from '../../shared/run/status.ts';
import { runDirOf } from '../../shared/store/home.ts';
import { recordSignatureOf } from '../../shared/store/signature.ts';
import type { Degradations } from '../degradations.ts';
import { inSlices } from '../loop/in-slices.ts';
import type { Roster } from '../roster.ts';
import { BLOCK_SHAPE, type BlockShape } from './blocks.ts';
import { IndexKeeper, type RebuildReason } from './index-keeper.ts';
import { indexRowOf } from './row.ts';
import type { KnownRun } from './run-index.ts';

/** Rows read from the index at a time: a few milliseconds. */
const PAGE_ROWS = 1_000;

export interface IndexingEvents {
  /** These are to be looked at again. */
  readonly onLook: (runId: string) => void;
  /** Everything is to be looked at and put again. */
  readonly onRebuild: (why: RebuildReason) => void;
}

/**
 * The index as the supervisor uses it: rows go in as runs are looked at, what it knows shortens the first look after
 * a start, and it is told to be complete when a whole listing has gone in. Switched off, it is a place where rows
 * vanish.
 */
export class Indexing {
  #keeper: IndexKeeper | null = null;
  /** A listing whose runs are on their way into the index. */
  #listing: { readonly root: string; readonly generation: number } | null = null;
  /** Of runs that have been asked to be looked at, and whose rows are not known to be in. */
  #markers: readonly Marker[] = [];

  constructor(
    readonly engine: Engine,
    readonly degradations: Degradations,
    readonly events: IndexingEvents,
  ) {}

  /** To be called each 5 s, and once before anything else: opens, reopens, closes as configured. */
  async check(): Promise<void> {
    if (!this.engine.config.index) {
      await this.close();
      return;
    }
    this.#keeper ??= new IndexKeeper(this.engine.home.stateDir, {
      signatureOf: (runId) => recordSignatureOf(runDirOf(this.engine.home, runId)),
      onRebuildNeeded: (why) => this.events.onRebuild(why),
      onChangedSince: (runIds) => {
        for (const runId of runIds) this.events.onLook(runId);
      },
    });
    await this.#keeper.check();
    this.#report();
    this.#lookAtTouched();
  }

  put(status: RunStatus, signature: string | null, settled: boolean): void {
    this.#keeper?.put(indexRowOf(this.engine, status, signature, settled));
  }

  drop(runId: string): void {
    this.#keeper?.drop([runId]);
  }

  putUsage(samples: readonly UsageSample[]): void {
    this.#keeper?.putUsage(samples);
  }

  checkpoint(): void {
    this.#keeper?.checkpoint();
  }

  /** Puts together what has lain still, a block at a time: each holds the loop for some 10 ms. */
  async pack(signal: AbortSignal, shape: BlockShape = BLOCK_SHAPE): Promise<void> {
    while (!signal.aborted && this.#keeper?.pack(shape)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Takes over what needs no look as long as the signature is the same: the settled rows. */
  async fill(roster: Roster, signal: AbortSignal): Promise<void> {
    for await (const page of this.#pages(signal)) {
      for (const { runId, signature, settled } of page) {
        if (settled) roster.asEnded(runId, signature);
        // It may have gone meanwhile: nothing else would ask about a name that is neither listed nor known.
        else this.events.onLook(runId);
      }
    }
  }

  /** A listing of the jobs directory begins; `root`: its signature from before, null where that is no proof. */
  listingBegins(root: string | null): void {
    const generation = this.#keeper?.generation ?? 0;
    this.#listing = root === null ? null : { root, generation };
  }

  /** Nothing is waiting to be looked at: what was listed or touched before has its row, and that may be said. */
  allIsIn(roster: Roster): void {
    this.#removeMarkers();
    if (this.#listing === null || this.#keeper === null) return;
    const { root, generation } = this.#listing;
    const isSet = this.#keeper.setReconciledRoot(root, generation, roster.size);
    if (isSet || generation !== this.#keeper.generation) this.#listing = null;
  }

  /** Every row against the disk, and every run against the rows: what differs is looked at again. */
  async deepCheck(roster: Roster, signal: AbortSignal): Promise<void> {
    if (this.#keeper === null) return;
    this.#keeper.verify();
    await this.#verifyBlocks(signal);
    const rows = new Set<string>();
    for await (const page of this.#pages(signal)) {
      await inSlices(page, signal, ({ runId, signature }) => {
        rows.add(runId);
        const isCurrent = recordSignatureOf(runDirOf(this.engine.home, runId)) === signature;
        if (!isCurrent || !roster.has(runId)) this.events.onLook(runId);
      });
    }
    await inSlices(roster.names(), signal, (runId) => {
      if (!rows.has(runId)) this.events.onLook(runId);
    });
  }

  async #verifyBlocks(signal: AbortSignal): Promise<void> {
    let last: string | null = '';
    while (last !== null && !signal.aborted) {
      last = this.#keeper?.verifyBlock(last) ?? null;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** One batch after the other: a marker that comes later says that its run must be looked at later. */
  #lookAtTouched(): void {
    if (this.#markers.length > 0) return;
    this.#markers = this.#ofTouched(listTouched) ?? [];
    for (const { runId } of this.#markers) this.events.onLook(runId);
  }

  #removeMarkers(): void {
    if (this.#markers.length === 0 || this.#keeper?.isUpToDate() !== true) return;
    this.#ofTouched((stateDir) => removeTouched(stateDir, this.#markers));
    this.#markers = [];
  }

  /** Markers that cannot be listed or removed cost speed alone: readers scan, or look at those runs. */
  #ofTouched<T>(work: (stateDir: string) => T): T | null {
    try {
      return work(this.engine.home.stateDir);
    } catch (error) {
      if (errnoOf(error) === null) throw error;
      return null;
    }
  }

  async close(): Promise<void> {
    this.#markers = [];
    await this.#keeper?.close();
    this.#keeper = null;
  }

  async *#pages(signal: AbortSignal): AsyncGenerator<KnownRun[]> {
    let after: string | null = null;
    while (!signal.aborted) {
      const page: KnownRun[] | null = this.#keeper?.known(after, PAGE_ROWS) ?? null;
      if (page === null || page.length === 0) return;
      yield page;
      after = page.at(-1)?.runId ?? null;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #report(): void {
    const trouble = this.#keeper?.trouble ?? null;
    for (const code of TROUBLE_CODES) if (code !== trouble?.code) this.degradations.clear(code);
    if (trouble !== null) this.degradations.set(trouble);
  }
}

const TROUBLE_CODES = ['index_unavailable', 'index_busy', 'index_full', 'index_readonly', 'index_corrupt'];
