import type { Engine } from '../../shared/engine.ts';
import type { UsageSample } from '../../shared/index/read-usage.ts';
import type { RunStatus } from '../../shared/run/status.ts';
import { runDirOf } from '../../shared/store/home.ts';
import { recordSignatureOf } from '../../shared/store/signature.ts';
import type { Degradations } from '../degradations.ts';
import { inSlices } from '../loop/in-slices.ts';
import type { Roster } from '../roster.ts';
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

  /** Takes over what needs no look as long as the signature is the same: the settled rows. */
  async fill(roster: Roster, signal: AbortSignal): Promise<void> {
    for await (const page of this.#pages(signal)) {
      for (const { runId, signature, settled } of page) if (settled) roster.asEnded(runId, signature);
    }
  }

  /** A listing of the jobs directory begins; `root`: its signature from before, null where that is no proof. */
  listingBegins(root: string | null): void {
    const generation = this.#keeper?.generation ?? 0;
    this.#listing = root === null ? null : { root, generation };
  }

  /** All runs of the last listing have been looked at: the index has them all, and may say so. */
  listingIsIn(): void {
    if (this.#listing === null || this.#keeper === null) return;
    const { root, generation } = this.#listing;
    const isSet = this.#keeper.setReconciledRoot(root, generation);
    if (isSet || generation !== this.#keeper.generation) this.#listing = null;
  }

  /** Every row against the disk, and every run against the rows: what differs is looked at again. */
  async deepCheck(roster: Roster, signal: AbortSignal): Promise<void> {
    if (this.#keeper === null) return;
    this.#keeper.verify();
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

  async close(): Promise<void> {
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
