import type { UsageRead } from '../index/read-usage.ts';
import { formatIso } from '../time/iso.ts';
import { type Available, available, unavailable } from './available.ts';

/** As `usage` of an answer shows it; the meters as `UsageSample` has them. */
export type Usage = {
  readonly cpu_percent: number | null;
  readonly rss_bytes: number | null;
  readonly peak_rss_bytes: number | null;
  readonly processes: number;
  readonly sampled_at: string;
};

/** An open run is sampled every few seconds: nobody samples it any more when its last is older than this. */
const STALE_AFTER_MS = 60_000;

/**
 * What is known of a run's use (ADR-0106 D7). `not_sampled`: no index, no sample, or none lately of an open run,
 * since it would be taken for the use of now; `unreadable`: its processes were there and could not be read.
 */
export function usageOf(
  read: UsageRead,
  run: { readonly runId: string; readonly terminal: boolean },
  nowMs: number,
): Available<Usage> {
  if ('unavailable' in read) return unavailable('not_sampled', read.unavailable);
  const sample = read.get(run.runId);
  if (sample === undefined) return unavailable('not_sampled', 'it was never sampled');
  const sampledAt = formatIso(sample.sampledMs);
  if (!run.terminal && nowMs - sample.sampledMs > STALE_AFTER_MS) {
    return unavailable('not_sampled', `it was last sampled at ${sampledAt}`);
  }
  if (sample.cpuPercent === null && sample.rssBytes === null) {
    return unavailable('unreadable', `its processes could not be read at ${sampledAt}`);
  }
  return available({
    cpu_percent: sample.cpuPercent,
    rss_bytes: sample.rssBytes,
    peak_rss_bytes: sample.peakRssBytes,
    processes: sample.processes,
    sampled_at: sampledAt,
  });
}
