import type BetterSqlite3 from 'better-sqlite3';
import { isFile } from '../file-kind.ts';
import { INDEX_VERSION, indexFileOf } from './schema.ts';

/** What the processes of a run used when they were last looked at, all of its group together. */
export interface UsageSample {
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly sampledMs: number;
  /**
   * 100 is one CPU, busy all the time since the sample before; in the first sample of a run, since its oldest
   * process began. Null: could not be read.
   */
  readonly cpuPercent: number | null;
  /** Null: could not be read. Pages that processes share count once for each. */
  readonly rssBytes: number | null;
  /** The most that was ever sampled; null: never read yet. */
  readonly peakRssBytes: number | null;
  /** Live members of the group. */
  readonly processes: number;
}

export type UsageRead = ReadonlyMap<string, UsageSample> | { readonly unavailable: string };

/** Readers of a WAL wait for nobody but a recovery. */
const BUSY_TIMEOUT_MS = 100;
const LAST_MS = 253_402_300_799_999;

/**
 * The last samples of these runs from the index; a run that was never sampled is not in the map. The index is a
 * cache: whatever keeps it from being read is `unavailable`, and nothing is thrown.
 */
export async function readUsage(stateDir: string, runIds: readonly string[]): Promise<UsageRead> {
  const path = indexFileOf(stateDir);
  // SQLite would wait on a FIFO for ever.
  if (!isFile(path)) return { unavailable: 'there is no index' };
  try {
    const { default: Database } = await import('better-sqlite3');
    const index = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    try {
      return samplesOf(index, runIds);
    } finally {
      index.close();
    }
  } catch (error) {
    // A missing module, a damaged, locked or foreign file: all cost the samples and nothing else.
    return { unavailable: `the index cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}

function samplesOf(index: BetterSqlite3.Database, runIds: readonly string[]): UsageRead {
  const version = index.pragma('user_version', { simple: true });
  if (version !== INDEX_VERSION) return { unavailable: `the index is of version ${version}` };
  const select = index.prepare<[string], Row>(
    'SELECT sampled_ms, cpu_percent, rss_bytes, peak_rss_bytes, processes FROM usage WHERE run_id = ?',
  );
  const samples = new Map<string, UsageSample>();
  for (const runId of runIds) {
    const row = select.get(runId);
    if (row === undefined) continue;
    if (!isSound(row)) return { unavailable: 'the index is damaged' };
    samples.set(runId, {
      runId,
      sampledMs: row.sampled_ms,
      cpuPercent: row.cpu_percent,
      rssBytes: row.rss_bytes,
      peakRssBytes: row.peak_rss_bytes,
      processes: row.processes,
    });
  }
  return samples;
}

interface Row {
  readonly sampled_ms: number;
  readonly cpu_percent: number | null;
  readonly rss_bytes: number | null;
  readonly peak_rss_bytes: number | null;
  readonly processes: number;
}

/** SQLite holds a value of any kind in any column. */
function isSound(row: Row): boolean {
  const { sampled_ms, processes, cpu_percent, rss_bytes, peak_rss_bytes } = row;
  return (
    [sampled_ms, processes].every(isAmount) &&
    sampled_ms <= LAST_MS &&
    [cpu_percent, rss_bytes, peak_rss_bytes].every((meter) => meter === null || isAmount(meter))
  );
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
