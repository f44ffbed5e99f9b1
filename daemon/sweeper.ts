/**
 * The sweeps, which alone make the supervisor right: whatever events were lost, they find every run that came, went
 * or changed. Nothing is decided here; runs are named, to be looked at.
 */
import type { Degradation } from '../shared/daemon/health.ts';
import type { Engine } from '../shared/engine.ts';
import { errnoOf } from '../shared/errno.ts';
import { isRacy, type Signed, sign } from '../shared/store/signature.ts';
import type { Degradations } from './degradations.ts';
import type { Journal } from './journal.ts';
import { inSlices } from './loop/in-slices.ts';
import { Period } from './loop/period.ts';
import type { Roster } from './roster.ts';
import { sweepNames, sweepStats } from './sweep.ts';

export const NAME_SWEEP_MS = 15_000;
const STAT_SWEEP_MS = 10 * 60_000;

export interface SweepEvents {
  readonly onLook: (runId: string) => void;
  /** The jobs directory is another one: what was watched is not it. */
  readonly onRootReplaced: () => void;
  /** A listing begins; `root` is the directory's signature from before, null where that proves nothing. */
  readonly onListing: (root: string | null) => void;
  readonly onSwept: (what: 'names_at' | 'stats_at') => void;
}

export class Sweeper {
  readonly #names = new Period(NAME_SWEEP_MS);
  readonly #stats = new Period(STAT_SWEEP_MS);
  /** Of the root when its names were last listed; null: they are to be listed again. */
  #rootSwept: string | null = null;
  /** Device and inode; undefined before the first look, null where it was not there or is in doubt. */
  #rootIdentity: string | null | undefined;
  #hasSwept = false;
  #isDesynced = false;
  /** Not only what differs: every run, as for an index that has none. */
  #isAllWanted = false;

  constructor(
    readonly engine: Engine,
    readonly journal: Journal,
    readonly roster: Roster,
    readonly degradations: Degradations,
    readonly events: SweepEvents,
  ) {}

  /** Events were lost, or may have been: everything that may differ is looked at as soon as can be. */
  desync(why: string, how: 'what differs' | 'look at all' = 'what differs'): void {
    // The first sweep looks at everything anyway.
    if (!this.#hasSwept && how === 'look at all') return;
    if (!this.#isDesynced) this.journal({ event: 'desynced', why });
    this.#isDesynced = true;
    this.#isAllWanted ||= how === 'look at all';
  }

  /** The root may be another one, though it looks the same: a new directory can get the number of the old one. */
  doubtRoot(): void {
    this.#rootIdentity = null;
  }

  /** To be called each second; does what is due. */
  async sweep(signal: AbortSignal): Promise<void> {
    const beganMs = performance.now();
    const root = sign(this.engine.home.jobsDir);
    this.#noticeRoot(root);
    const statsDue = this.#isDesynced || this.#stats.isDue(beganMs);
    const isRootNew = root === null || root.signature !== this.#rootSwept;
    if (!statsDue && !(isRootNew && this.#names.isDue(beganMs))) return;
    this.#isDesynced = false;
    this.#names.restart(beganMs);
    // A root that changed a moment ago may change again within the grain of its clock: it counts as changed.
    this.#rootSwept = root === null || isRacy(root, this.engine.now()) ? null : root.signature;
    this.events.onListing(this.#rootSwept);
    await this.#sweepNames(signal);
    this.events.onSwept('names_at');
    if (statsDue) {
      this.#stats.restart(beganMs);
      await this.#sweepRecords(signal);
      this.events.onSwept('stats_at');
    }
    this.#hasSwept = true;
  }

  async #sweepNames(signal: AbortSignal): Promise<void> {
    try {
      await sweepNames(this.engine.home, this.roster, signal, this.events.onLook);
      this.degradations.clear('root_unreadable');
    } catch (error) {
      const code = errnoOf(error);
      if (code === null) throw error;
      // A root that is gone has no runs: those that were known are looked at, and found gone.
      if (code === 'ENOENT') await inSlices(this.roster.names(), signal, this.events.onLook);
      else this.degradations.set(unreadable(this.engine.home.jobsDir, code));
    }
  }

  async #sweepRecords(signal: AbortSignal): Promise<void> {
    if (!this.#isAllWanted) return sweepStats(this.engine.home, this.roster, signal, this.events.onLook);
    this.#isAllWanted = false;
    return inSlices(this.roster.names(), signal, this.events.onLook);
  }

  /** A directory that was replaced is watched by nobody, and holds other runs. */
  #noticeRoot(root: Signed | null): void {
    const identity = root === null ? null : root.signature.split('.').slice(0, 2).join('.');
    if (identity === null) this.degradations.set(missing(this.engine.home.jobsDir));
    else this.degradations.clear('root_missing');
    if (identity === this.#rootIdentity) return;
    const isFirst = this.#rootIdentity === undefined;
    this.#rootIdentity = identity;
    if (isFirst) return;
    this.desync('the jobs directory is another one, or may be');
    this.events.onRootReplaced();
  }
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
