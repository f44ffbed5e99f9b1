/**
 * What the supervisor holds of the index. Nothing here throws into its loop: whatever happens to the file is
 * `trouble` to be told of, and a rebuild asked for when it is over.
 *
 * Rows wait a moment and go in together. They are lost where the index fails (but for one that is only busy);
 * what is lost is never counted up, everything is looked at again instead: `onRebuildNeeded`. Until a rebuild
 * that began after the loss has gone through, `setReconciledRoot` is refused, so no reader takes the index for
 * complete. While there is trouble nothing is tried but by `check`, less and less often.
 */
import { IndexFault } from '../../shared/index/fault.ts';
import type { UsageSample } from '../../shared/index/read-usage.ts';
import type { IndexRow } from '../../shared/index/schema.ts';
import type { BlockShape } from './blocks.ts';
import { openRunIndex } from './open.ts';
import type { KnownRun, RunIndex } from './run-index.ts';
import { type IndexTrouble, troubleOf } from './trouble.ts';

const FLUSH_ROWS = 200;
const FLUSH_AFTER_MS = 100;
/** Kept while another process holds the index: at 1 kB a row, 5 MB. */
const LONGEST_WAIT_ROWS = 5_000;
/** So many checks at most go by between two attempts: about 5 minutes at one check in 5 s. */
const LONGEST_PAUSE_CHECKS = 64;

export type RebuildReason = 'created' | 'set_aside' | 'replaced' | 'rows_lost';

/** The callbacks come from within `put`, `flush` and `check`: they note down what to do, and do it later. */
export interface IndexOwner {
  /** Of the run's record as it is on disk now; null: there is none. */
  signatureOf(runId: string): string | null;
  /** Every run must be looked at and put again, and what `known` has beyond them dropped. */
  onRebuildNeeded(why: RebuildReason): void;
  /** The records of these have changed since they were read for the row that was put. */
  onChangedSince(runIds: readonly string[]): void;
}

export class IndexKeeper {
  readonly #stateDir: string;
  readonly #owner: IndexOwner;
  #index: RunIndex | null = null;
  #trouble: IndexTrouble | null = null;
  #waiting = new Map<string, IndexRow>();
  #timer: NodeJS.Timeout | null = null;
  /** Refused because they had changed, and not put since: they may have no row. */
  readonly #unsure = new Set<string>();
  /** A rebuild the owner has not been asked for yet. */
  #owed: RebuildReason | null = null;
  #generation = 0;
  #condemned = false;
  #failures = 0;
  #pauseChecks = 0;
  #checking: Promise<void> | null = null;
  #isClosed = false;

  /** Nothing is opened before the first `check`; rows put before it wait for it. */
  constructor(stateDir: string, owner: IndexOwner) {
    this.#stateDir = stateDir;
    this.#owner = owner;
  }

  /** For the health report; null: all is well. */
  get trouble(): IndexTrouble | null {
    return this.#trouble;
  }

  /** Moves on with everything lost: take it before a listing begins, for `setReconciledRoot`. */
  get generation(): number {
    return this.#generation;
  }

  /** Of two rows of one run the later put counts. */
  put(row: IndexRow): void {
    if (this.#isClosed) return;
    if (this.#waiting.size >= LONGEST_WAIT_ROWS) this.#loseWaiting();
    if (this.#trouble !== null && this.#trouble.code !== 'index_busy') {
      this.#owe('rows_lost');
      return;
    }
    this.#waiting.set(row.runId, row);
    if (this.#trouble !== null) return;
    if (this.#waiting.size >= FLUSH_ROWS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_AFTER_MS).unref();
  }

  drop(runIds: readonly string[]): void {
    for (const runId of runIds) {
      this.#waiting.delete(runId);
      this.#unsure.delete(runId);
    }
    if (!this.#did((index) => index.drop(runIds))) this.#owe('rows_lost');
  }

  /** Samples that cannot be kept now are of no use later. */
  putUsage(samples: readonly UsageSample[]): void {
    this.#did((index) => index.putUsage(samples));
  }

  /** Null: there is no index to ask. */
  known(afterRunId: string | null, limit: number): KnownRun[] | null {
    return this.#attempt((index) => index.known(afterRunId, limit));
  }

  /**
   * Says that every run the jobs directory had at this signature has been put.
   * @param generation as it was when the listing began.
   * @param names how many it had.
   * @returns false: it is not so, or could not be written. To be tried again after another look.
   */
  setReconciledRoot(signature: string, generation: number, names: number): boolean {
    if (!this.isUpToDate() || generation !== this.#generation) return false;
    const isSet = this.#did((index) => index.setReconciledRoot(signature, names));
    if (isSet) this.#failures = 0;
    return isSet;
  }

  /** Is every row that was put in the file, and none of them known to be old? */
  isUpToDate(): boolean {
    this.flush();
    const isIn = this.#index !== null && this.#trouble === null && this.#waiting.size === 0;
    return isIn && this.#unsure.size === 0 && this.#owed === null;
  }

  checkpoint(): void {
    this.#did((index) => index.checkpoint());
  }

  /** False: there is nothing to put together, or no index to do it in. */
  pack(shape: BlockShape): boolean {
    return this.#attempt((index) => index.pack(shape)) ?? false;
  }

  verify(): void {
    this.#did((index) => index.verify());
  }

  /** One after the other: null behind the last, or where there is no index. */
  verifyBlock(afterLast: string): string | null {
    return this.#attempt((index) => index.verifyBlock(afterLast));
  }

  /** Writes what waits, unless there is trouble: then `check` does, when it is over. */
  flush(): void {
    if (this.#trouble === null) this.#writeWaiting();
  }

  /** To be called every 5 s: opens the index, notices that it was replaced, and ends trouble that has passed. */
  async check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = null;
    });
    await this.#checking;
  }

  /** Writes what waits and lets go of the file. */
  async close(): Promise<void> {
    await this.#checking;
    this.flush();
    this.#isClosed = true;
    this.#disarm();
    this.checkpoint();
    this.#letGo();
  }

  async #check(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#index !== null && this.#isReplaced()) this.#letGo();
    else if (this.#pauseChecks > 0) {
      this.#pauseChecks -= 1;
      return;
    }
    if (this.#index === null) await this.#open();
    if (this.#index === null) return;
    // Whether it is over is found out by writing.
    this.#trouble = null;
    this.flush();
    this.#settleDebt();
  }

  #isReplaced(): boolean {
    const isReplaced = this.#attempt((index) => index.isReplaced(), 'even in trouble') ?? true;
    if (isReplaced) this.#owe('replaced');
    return isReplaced;
  }

  async #open(): Promise<void> {
    const opened = await openRunIndex(this.#stateDir, this.#condemned);
    if (opened.state === 'unavailable') return this.#fail(troubleOf(opened.why, opened.detail));
    this.#index = opened.index;
    this.#condemned = false;
    if (opened.state !== 'opened') this.#owe(opened.state);
  }

  /** Asks for the rebuild that is owed, once the index has taken down that it is not complete. */
  #settleDebt(): void {
    const owed = this.#owed;
    if (owed === null) return;
    if (!this.#did((index) => index.setReconciledRoot(null))) return;
    this.#owed = null;
    this.#owner.onRebuildNeeded(owed);
  }

  #owe(why: RebuildReason): void {
    this.#owed ??= why;
    this.#generation += 1;
    this.#unsure.clear();
  }

  #writeWaiting(): void {
    this.#disarm();
    if (this.#waiting.size === 0 || this.#index === null) return;
    const rows = this.#waiting;
    this.#waiting = new Map();
    const changed = this.#attempt((index) =>
      index.put([...rows.values()], (runId) => this.#owner.signatureOf(runId)),
    );
    if (changed === null) {
      for (const [runId, row] of rows) this.#waiting.set(runId, row);
      if (this.#trouble?.code !== 'index_busy') this.#loseWaiting();
      return;
    }
    for (const runId of rows.keys()) this.#unsure.delete(runId);
    for (const runId of changed) this.#unsure.add(runId);
    if (changed.length > 0) this.#owner.onChangedSince(changed);
  }

  #loseWaiting(): void {
    this.#waiting.clear();
    this.#owe('rows_lost');
  }

  #did(work: (index: RunIndex) => void): boolean {
    const done = this.#attempt((index) => {
      work(index);
      return true;
    });
    return done ?? false;
  }

  /** Null: there is no index, or it is in trouble, or has just come into it. */
  #attempt<T>(work: (index: RunIndex) => T, when: 'in peace' | 'even in trouble' = 'in peace'): T | null {
    if (this.#index === null || (this.#trouble !== null && when === 'in peace')) return null;
    try {
      return work(this.#index);
    } catch (error) {
      this.#suffer(IndexFault.from(error));
      return null;
    }
  }

  #suffer(fault: IndexFault): void {
    this.#fail(troubleOf(fault.code, fault.detail));
    if (fault.code === 'corrupt') {
      this.#condemned = true;
      this.#owe('set_aside');
    }
    // A full or busy file is as good as before once that is over.
    if (fault.code !== 'full' && fault.code !== 'busy') this.#letGo();
  }

  /** The first failure is looked into at the next check, each one after it later. */
  #fail(trouble: IndexTrouble): void {
    this.#trouble = trouble;
    this.#pauseChecks = Math.min(LONGEST_PAUSE_CHECKS, 2 ** this.#failures) - 1;
    this.#failures += 1;
  }

  #letGo(): void {
    const index = this.#index;
    this.#index = null;
    try {
      index?.close();
    } catch (error) {
      // Nothing of it is used again, and what is lying there is looked at when it is opened.
      if (!(error instanceof IndexFault)) throw error;
    }
  }

  #disarm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
