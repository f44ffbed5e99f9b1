/**
 * Removes runs that a rule covers (`lion job prune`, `retention` of liond.yaml), oldest first: look, decide,
 * remove under the lock, one run after the other. What is decided is decided on a look a moment old, and holds
 * only while the record is the one that was looked at.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine } from '../../engine.ts';
import { errnoOf } from '../../errno.ts';
import type { ProcessTable } from '../../process/table.ts';
import { runDirOf } from '../../store/home.ts';
import { allocatedBytes } from './allocated.ts';
import { decide, type KeepReason, type PruneRule } from './decide.ts';
import { lookAtRun } from './look.ts';
import { removeRun } from './remove.ts';

export interface PruneRequest {
  readonly rule: PruneRule;
  /** Nothing is removed; the answer says what would be. */
  readonly dryRun: boolean;
  readonly lockWaitMs: number;
  /** Stops between runs, and between slices of the work on a large one. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly doing: 'measuring' | 'pruning';
  readonly done: number;
  readonly of: number;
}

export interface Pruned {
  readonly removed: { readonly runId: string; readonly bytes: number }[];
  readonly kept: Partial<Record<KeepReason, number>>;
  readonly failed: { readonly runId: string; readonly why: string }[];
  /** Not all runs were gone through. */
  readonly interrupted: boolean;
}

/** @param names all of the store, newest first, as `listRunNames` has them. */
export async function prune(
  engine: Engine,
  names: readonly string[],
  request: PruneRequest,
): Promise<Pruned> {
  const pruning = new Pruning(engine, request);
  await pruning.prepare(names);
  for (let at = names.length - 1; at >= 0 && !request.signal.aborted; at--) {
    await pruning.one(names[at] ?? '', at);
    request.onProgress?.({ doing: 'pruning', done: names.length - at, of: names.length });
    await nextTurn();
  }
  return pruning.result(names.length);
}

/** One look at all processes answers for many runs; after this long a new one is taken. */
const SURVEY_LASTS_MS = 1_000;

class Pruning {
  readonly #removed: { runId: string; bytes: number }[] = [];
  readonly #kept: Partial<Record<KeepReason, number>> = {};
  readonly #failed: { runId: string; why: string }[] = [];
  #survey: { readonly processes: ProcessTable; readonly takenMs: number } | null = null;
  #storeBytes = 0;
  /** How many names from the newest on hold the newest runs that stay. */
  #newestNames = 0;

  constructor(
    readonly engine: Engine,
    readonly request: PruneRequest,
  ) {}

  /** What the rule asks of the store as a whole. */
  async prepare(names: readonly string[]): Promise<void> {
    const { rule, signal, onProgress } = this.request;
    this.#newestNames = await namesOfNewest(this.engine, names, rule.keepNewest ?? 0);
    if (rule.maxBytes === null) return;
    const counted = new Set<string>();
    for (const [at, runId] of names.entries()) {
      if (signal.aborted) return;
      this.#storeBytes += await allocatedBytes(runDirOf(this.engine.home, runId), signal, counted);
      onProgress?.({ doing: 'measuring', done: at + 1, of: names.length });
      await nextTurn();
    }
  }

  /** @param at its place among the names, 0 being the newest. */
  async one(runId: string, at: number): Promise<void> {
    try {
      await this.#prune(runId, at);
    } catch (error) {
      // One bad entry costs one line; the others go on.
      const code = errnoOf(error);
      if (code === null) throw error;
      if (code === 'ENOENT') this.#keep('changed_meanwhile');
      else this.#failed.push({ runId, why: code });
    }
  }

  result(of: number): Pruned {
    const [removed, kept, failed] = [this.#removed, this.#kept, this.#failed];
    const finished = Object.values(kept).reduce((sum, runs) => sum + runs, removed.length + failed.length);
    return { removed, kept, failed, interrupted: finished < of };
  }

  async #prune(runId: string, at: number): Promise<void> {
    const { rule, signal, dryRun, lockWaitMs } = this.request;
    const runDir = runDirOf(this.engine.home, runId);
    const { facts, seen } = lookAtRun(this.engine, this.#processes(), runId);
    const store = { isAmongNewest: at < this.#newestNames, storeBytes: this.#storeBytes };
    const verdict = decide(facts, store, rule, this.engine.now());
    if (verdict !== 'remove') return this.#keep(verdict.keep);
    const bytes = await allocatedBytes(runDir, signal);
    if (signal.aborted) return;
    const removal = dryRun ? REMOVED : await removeRun(runDir, seen, { waitMs: lockWaitMs, signal });
    switch (removal.kind) {
      case 'removed':
        this.#removed.push({ runId, bytes });
        this.#storeBytes -= bytes;
        return;
      case 'changed':
        return this.#keep('changed_meanwhile');
      case 'failed':
        this.#failed.push({ runId, why: removal.why });
        return;
      case 'interrupted':
        return;
    }
  }

  #keep(reason: KeepReason): void {
    this.#kept[reason] = (this.#kept[reason] ?? 0) + 1;
  }

  #processes(): ProcessTable {
    if (this.#survey === null || performance.now() - this.#survey.takenMs > SURVEY_LASTS_MS) {
      this.#survey = { processes: surveyed(this.engine.processes), takenMs: performance.now() };
    }
    return this.#survey.processes;
  }
}

const REMOVED = { kind: 'removed' } as const;

/** The same table, with what is dear to ask asked once. */
function surveyed(processes: ProcessTable): ProcessTable {
  const standpoint = processes.standpoint();
  return { ...processes, standpoint: () => standpoint, scanForMark: processes.surveyMarks() };
}

/** One look is a few microseconds. */
const LOOKS_A_TURN = 500;

/** Reservations among them are no runs. */
async function namesOfNewest(engine: Engine, names: readonly string[], runs: number): Promise<number> {
  let found = 0;
  let at = 0;
  for (; at < names.length && found < runs; at++) {
    if (at % LOOKS_A_TURN === 0) await nextTurn();
    if (hasRecord(join(runDirOf(engine.home, names[at] ?? ''), 'job.json'))) found += 1;
  }
  return at;
}

/** What cannot be looked at counts: one run more is kept. */
function hasRecord(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return true;
  }
}
