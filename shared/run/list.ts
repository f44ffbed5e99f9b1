/**
 * The walk over a store, newest first, which stops at its limit: runs past it are not looked at, so a listing
 * ends only the gone runs it meets. Runs of a page are resolved side by side; no lock is waited for, and all
 * questions to the lifecycle store share one budget, so that no record can stall the others.
 */
import pLimit from 'p-limit';
import { type Row, rowOf } from '../contract/row.ts';
import type { Engine } from '../engine.ts';
import { LIFECYCLE_TIMEOUT_MS } from '../lifecycle/ask.ts';
import { attemptNotice } from '../notify/attempt-notice.ts';
import { degradedReason, readManifest } from '../output/manifest.ts';
import { DANGLING, readRecord } from '../record/read.ts';
import { runDirOf } from '../store/home.ts';
import { listRunNames } from '../store/names.ts';
import { type ClassifyOptions, classify, type RunStatus, unanswerable } from './status.ts';

export interface ListRequest {
  readonly limit: number;
  /** Shown by this status, compared verbatim; null or empty: all. */
  readonly status: string | null;
  /** Only rows that say something of theirs is degraded. */
  readonly degraded: boolean;
}

export interface Listing {
  readonly rows: readonly Row[];
  /** There is at least one more match. */
  readonly truncated: boolean;
}

/** Runs looked at side by side, and notices sent side by side (design 7). */
const CONCURRENCY = 8;
/** A listing starts notices for this long; what it could not start stays owed. */
const NOTICE_BUDGET_MS = 30_000;

export async function listRuns(engine: Engine, request: ListRequest): Promise<Listing> {
  const names = listRunNames(engine.home.jobsDir);
  const found: RunStatus[] = [];
  const options = listOptions();
  let at = 0;
  while (at < names.length && found.length < request.limit) {
    const wanted = request.limit - found.length;
    const batch: string[] = [];
    while (at < names.length && batch.length < wanted) {
      const name = names[at++] as string;
      if (isListed(engine, name)) batch.push(name);
    }
    const statuses = await classifyAll(engine, batch, options);
    found.push(...statuses.filter((status) => matches(engine, status, request)));
  }
  const truncated = await hasAnother(engine, names.slice(at), request, options);
  await announceAll(engine, found);
  return { rows: found.map((status) => rowOf(engine, refreshed(engine, status))), truncated };
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

/** A directory without a record is a reservation; an entry that leads nowhere is none of ours. */
function isListed(engine: Engine, name: string): boolean {
  const read = readRecord(runDirOf(engine.home, name));
  if (read.state === 'absent') return false;
  return read.state !== 'unreadable' || ![DANGLING, 'ENOTDIR', 'ELOOP'].includes(read.why);
}

function classifyAll(
  engine: Engine,
  names: readonly string[],
  options: ClassifyOptions,
): Promise<RunStatus[]> {
  const limit = pLimit(CONCURRENCY);
  return Promise.all(names.map((name) => limit(() => classifyRow(engine, name, options))));
}

/** One record's fault costs its row and nothing else. */
async function classifyRow(engine: Engine, runId: string, options: ClassifyOptions): Promise<RunStatus> {
  try {
    return await classify(engine, runId, options);
  } catch (error) {
    return unanswerable(runId, error instanceof Error ? error.message : String(error));
  }
}

function matches(engine: Engine, status: RunStatus, request: ListRequest): boolean {
  if (request.status && status.derived.status !== request.status) return false;
  return !request.degraded || isDegraded(engine, status);
}

/** Its record cannot be read or written, or its engine could not keep it. */
function isDegraded(engine: Engine, status: RunStatus): boolean {
  if (status.read.state !== 'ok' || status.refusal !== null) return true;
  return degradedReason(readManifest(engine, status.runId)) !== null;
}

/** Without a filter the next record is enough; with one, later runs are resolved until one matches. */
async function hasAnother(
  engine: Engine,
  rest: readonly string[],
  request: ListRequest,
  options: ClassifyOptions,
): Promise<boolean> {
  for (const name of rest) {
    if (!isListed(engine, name)) continue;
    if (!request.status && !request.degraded) return true;
    const status = await classifyRow(engine, name, options);
    if (status.wonTransition) await attemptNotice(engine, name, { role: 'winner' });
    if (matches(engine, status, request)) return true;
  }
  return false;
}

async function announceAll(engine: Engine, statuses: readonly RunStatus[]): Promise<void> {
  const started = performance.now();
  const limit = pLimit(CONCURRENCY);
  const won = statuses.filter((status) => status.wonTransition);
  await Promise.all(
    won.map((status) =>
      limit(async () => {
        if (performance.now() - started >= NOTICE_BUDGET_MS) return;
        await attemptNotice(engine, status.runId, { role: 'winner' });
      }),
    ),
  );
}

function refreshed(engine: Engine, status: RunStatus): RunStatus {
  return status.wonTransition ? { ...status, read: readRecord(runDirOf(engine.home, status.runId)) } : status;
}
