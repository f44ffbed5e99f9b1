/**
 * The walk over a store, newest first, which stops at its limit: runs past it are not looked at, so a listing
 * ends only the gone runs it meets. Runs of a page are resolved side by side; no lock is waited for, and all
 * questions to the lifecycle store share one budget, so that no record can stall the others.
 *
 * The index spares the walk records, never a rule: which runs are looked at, in which order, and which match, is
 * decided here, with the index and without. `read-index.ts` says when one of its rows may be taken.
 */
import pLimit from 'p-limit';
import { type Row, rowOf, rowOfValues } from '../contract/row.ts';
import type { Engine } from '../engine.ts';
import { type BlockRun, type Digest, EVERY_RUN, type Facts, type Sieve } from '../index/block.ts';
import type { IndexReader } from '../index/read-index.ts';
import type { IndexRow } from '../index/schema.ts';
import { LIFECYCLE_TIMEOUT_MS } from '../lifecycle/ask.ts';
import { attemptNotice } from '../notify/attempt-notice.ts';
import { degradedReason, readManifest } from '../output/manifest.ts';
import { DANGLING, readRecord } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { recordSignatureOf } from '../store/signature.ts';
import { listEntries } from './list-entries.ts';
import { factsOf } from './list-facts.ts';
import { isUnfiltered, type ListFilter, matchesFacts, sieveOf } from './list-filter.ts';
import { type ClassifyOptions, classify, type RunStatus, unanswerable } from './status.ts';
import { type IndexUse, withIndex } from './with-index.ts';

export interface ListRequest {
  readonly filter: ListFilter;
  readonly useIndex: boolean;
}

export interface PageRequest extends ListRequest {
  readonly limit: number;
  /** Only runs below this one in the order of the list; null: all. */
  readonly afterRunId: string | null;
}

export interface Listing {
  readonly rows: readonly Row[];
  /** There is at least one more match. */
  readonly truncated: boolean;
  readonly index: IndexUse;
}

/** Of all runs that match. */
export interface RunCounts {
  readonly total: number;
  readonly open: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly indeterminate: number;
}

/** Runs looked at side by side, and notices sent side by side (design 7). */
const CONCURRENCY = 8;
/** A listing starts notices for this long; what it could not start stays owed. */
const NOTICE_BUDGET_MS = 30_000;
/** Runs of a count that are held in memory at a time. */
const COUNTED_AT_ONCE = 64;

export async function listRuns(engine: Engine, request: PageRequest): Promise<Listing> {
  const won = new Set<string>();
  const { value, index } = await withIndex(engine, request.useIndex, async (reader) => {
    const walk = new Walk(engine, reader, request.filter, request.afterRunId, won);
    const found = await walk.upTo(request.limit);
    return { found, truncated: await walk.hasAnother() };
  });
  await announceAll(engine, won);
  const rows = value.found.map(({ status, row }) =>
    status !== null && won.has(status.runId) ? rowOf(engine, reread(engine, status)) : row,
  );
  return { rows, truncated: value.truncated, index };
}

export async function countRuns(
  engine: Engine,
  request: ListRequest,
): Promise<{ counts: RunCounts; index: IndexUse }> {
  const won = new Set<string>();
  const { value, index } = await withIndex(engine, request.useIndex, async (reader) => {
    return await new Walk(engine, reader, request.filter, null, won).count();
  });
  await announceAll(engine, won);
  return { counts: value, index };
}

/** A match: a run that was looked at, or a row of the index that stands for it. */
interface Found {
  readonly row: Row;
  readonly facts: Facts;
  readonly status: RunStatus | null;
}

/** A run that may match: has to be looked at, or does match by its row. */
interface Candidate {
  readonly runId: string;
  readonly found: Found | null;
}

type Counts = { -readonly [outcome in keyof RunCounts]: number };

class Walk {
  readonly #engine: Engine;
  readonly #reader: IndexReader | null;
  readonly #filter: ListFilter;
  readonly #sieve: Sieve;
  readonly #afterRunId: string | null;
  #entries: Generator<BlockRun> | null = null;
  /** Ends that this listing wrote: their first notices are its to send. */
  readonly #won: Set<string>;
  readonly #options = listOptions();

  constructor(
    engine: Engine,
    reader: IndexReader | null,
    filter: ListFilter,
    afterRunId: string | null,
    won: Set<string>,
  ) {
    this.#engine = engine;
    this.#reader = reader;
    this.#filter = filter;
    this.#sieve = sieveOf(filter);
    this.#afterRunId = afterRunId;
    this.#won = won;
  }

  /** The next matches, so many at most; never looks further than it has to for them. */
  async upTo(limit: number): Promise<Found[]> {
    const found: Found[] = [];
    while (found.length < limit) {
      const batch = this.#take(limit - found.length);
      if (batch.length === 0) break;
      found.push(...(await this.#matchesOf(batch)));
    }
    return found;
  }

  /** Without a filter the next record is enough; with one, later runs are resolved until one matches. */
  async hasAnother(): Promise<boolean> {
    for (let batch = this.#take(1); batch.length > 0; batch = this.#take(1)) {
      if (isUnfiltered(this.#filter) || (await this.#matchesOf(batch)).length > 0) return true;
    }
    return false;
  }

  /** Rows of the index are counted as they are, unlike those that are shown. */
  async count(): Promise<RunCounts> {
    const counts: Counts = { total: 0, open: 0, succeeded: 0, failed: 0, cancelled: 0, indeterminate: 0 };
    const add = (outcome: string | null, runs = 1): void => {
      counts.total += runs;
      counts[(outcome ?? 'open') as keyof RunCounts] += runs;
    };
    // Of all runs, those of a block are counted by what it says of itself.
    const countWhole = (digest: Digest): boolean => {
      for (const [outcome, runs] of Object.entries(digest.outcomes)) add(outcome, runs);
      return false;
    };
    const sieve = isUnfiltered(this.#filter) ? { ...EVERY_RUN, admits: countWhole } : this.#sieve;
    let waiting: Candidate[] = [];
    for (const entry of listEntries(this.#engine, this.#reader, this.#afterRunId, sieve)) {
      if (entry.settled !== null && !this.#filter.degraded) {
        if (matchesFacts(this.#filter, entry.settled)) add(entry.settled.outcome);
        continue;
      }
      const candidate = this.#candidateOf(entry);
      if (candidate !== null) waiting.push(candidate);
      if (waiting.length < COUNTED_AT_ONCE) continue;
      for (const { facts } of await this.#matchesOf(waiting)) add(facts.outcome);
      waiting = [];
    }
    for (const { facts } of await this.#matchesOf(waiting)) add(facts.outcome);
    return counts;
  }

  #take(count: number): Candidate[] {
    this.#entries ??= listEntries(this.#engine, this.#reader, this.#afterRunId, this.#sieve);
    const taken: Candidate[] = [];
    while (taken.length < count) {
      const { value: entry, done } = this.#entries.next();
      if (done) break;
      const candidate = this.#candidateOf(entry);
      if (candidate !== null) taken.push(candidate);
    }
    return taken;
  }

  /** Null: it does not match, or is no run. */
  #candidateOf({ runId, settled }: BlockRun): Candidate | null {
    if (settled !== null && !matchesFacts(this.#filter, settled)) return null;
    const known = settled === null ? null : (this.#reader?.settledRow(runId) ?? null);
    if (known !== null) {
      const reason = degradedReason(readManifest(this.#engine, runId));
      if (this.#filter.degraded && reason === null) return null;
      const row = rowOfValues(known.row);
      if (reason === row.persistence_degraded_reason && isAsRead(this.#engine, known)) {
        return { runId, found: { row, facts: known, status: null } };
      }
    }
    return isListed(this.#engine, runId) ? { runId, found: null } : null;
  }

  async #matchesOf(candidates: readonly Candidate[]): Promise<Found[]> {
    const limit = pLimit(CONCURRENCY);
    const found = await Promise.all(
      candidates.map((candidate) => candidate.found ?? limit(() => this.#look(candidate.runId))),
    );
    return found.filter(
      ({ row, facts }) => matchesFacts(this.#filter, facts) && (!this.#filter.degraded || isDegraded(row)),
    );
  }

  async #look(runId: string): Promise<Found> {
    const status = await classifyRow(this.#engine, runId, this.#options);
    if (status.wonTransition) this.#won.add(runId);
    const row = rowOf(this.#engine, status);
    return { row, facts: factsOf(status, row), status };
  }
}

function listOptions(): ClassifyOptions {
  const deadline = performance.now() + LIFECYCLE_TIMEOUT_MS;
  return {
    lockWaitMs: 0,
    lifecycleTimeoutMs: () => Math.min(LIFECYCLE_TIMEOUT_MS, deadline - performance.now()),
    probeEnded: false,
    seenAlive: false,
  };
}

function isAsRead(engine: Engine, { runId, signature }: IndexRow): boolean {
  return signature !== null && recordSignatureOf(runDirOf(engine.home, runId)) === signature;
}

/** A directory without a record is a reservation; an entry that leads nowhere is none of ours. */
function isListed(engine: Engine, name: string): boolean {
  const read = readRecord(runDirOf(engine.home, name));
  if (read.state === 'absent') return false;
  return read.state !== 'unreadable' || ![DANGLING, 'ENOTDIR', 'ELOOP'].includes(read.why);
}

/** One record's fault costs its row and nothing else. */
async function classifyRow(engine: Engine, runId: string, options: ClassifyOptions): Promise<RunStatus> {
  try {
    return await classify(engine, runId, options);
  } catch (error) {
    return unanswerable(runId, error instanceof Error ? error.message : String(error));
  }
}

/** Its record cannot be read or written, or its engine could not keep it. */
function isDegraded(row: Row): boolean {
  return row.record_state !== 'ok' || row.refusal !== null || row.persistence_degraded_reason !== null;
}

async function announceAll(engine: Engine, runIds: ReadonlySet<string>): Promise<void> {
  const started = performance.now();
  const limit = pLimit(CONCURRENCY);
  await Promise.all(
    [...runIds].map((runId) =>
      limit(async () => {
        if (performance.now() - started >= NOTICE_BUDGET_MS) return;
        await attemptNotice(engine, runId, { role: 'winner' });
      }),
    ),
  );
}

function reread(engine: Engine, status: RunStatus): RunStatus {
  return { ...status, read: readRecord(runDirOf(engine.home, status.runId)) };
}
