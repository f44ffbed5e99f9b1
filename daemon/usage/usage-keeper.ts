import type { UsageSample } from '../../shared/index/read-usage.ts';
import { cpuPercentOf, type GroupReading, groupReading } from './group-usage.ts';
import { type GroupListing, listGroups } from './list-groups.ts';
import { type Meter, readMeters } from './read-meters.ts';

/** A run whose process was just seen to be the one on its record, and alive. */
export interface RunToSample {
  readonly runId: string;
  readonly pid: number;
  readonly pgid: number;
  /** What is known from before this supervisor, from the index. */
  readonly earlierPeakRssBytes?: number | null;
}

/** What the next sample of a run stands on; a run that is not asked for any more is forgotten. */
interface Track {
  readonly reading: GroupReading | null;
  readonly peakRssBytes: number | null;
}

export class UsageKeeper {
  #tracks = new Map<string, Track>();

  /** @param now milliseconds since the epoch */
  constructor(readonly now: () => number = Date.now) {}

  /**
   * What the process groups of these runs use now. `runs` are all that are alive: those left out are forgotten.
   * A run whose leader is not in its group has no sample, since the group may be another's; one whose processes
   * cannot be read has one with null meters. Nothing is sampled where processes are not listed, or after an
   * abort.
   * @throws what ps says on macOS
   */
  async sample(runs: readonly RunToSample[], signal: AbortSignal): Promise<UsageSample[]> {
    this.#forgetAllBut(runs);
    const listing = runs.length === 0 ? null : await listGroups(signal);
    if (listing === null) return [];
    const groups = runs.map((run) => ({ run, pids: groupOf(run, listing) }));
    const meters = await readMeters([...new Set(groups.flatMap(({ pids }) => pids ?? []))], signal);
    if (signal.aborted) return [];
    return groups.flatMap(({ run, pids }) => (pids === null ? [] : [this.#sampleOf(run, pids, meters)]));
  }

  #forgetAllBut(runs: readonly RunToSample[]): void {
    const alive = new Set(runs.map((run) => run.runId));
    for (const runId of this.#tracks.keys()) if (!alive.has(runId)) this.#tracks.delete(runId);
  }

  #sampleOf(run: RunToSample, pids: readonly number[], all: ReadonlyMap<number, Meter>): UsageSample {
    const track = this.#tracks.get(run.runId);
    const before = track?.reading ?? null;
    const meters = new Map(pids.flatMap((pid) => entryOf(all, pid)));
    const rssBytes = meters.size === 0 ? null : rssOf(meters);
    const peakRssBytes = highest(track?.peakRssBytes, run.earlierPeakRssBytes, rssBytes);
    this.#tracks.set(run.runId, {
      reading: meters.size === 0 ? before : groupReading(meters),
      peakRssBytes,
    });
    return {
      runId: run.runId,
      sampledMs: this.now(),
      cpuPercent: meters.size === 0 ? null : cpuPercentOf(meters, before),
      rssBytes,
      peakRssBytes,
      processes: meters.size === 0 ? pids.length : meters.size,
    };
  }
}

/** Null: it is not known to be the run's. The leader alone where the system hides it from us. */
function groupOf({ pid, pgid }: RunToSample, { members, hidden }: GroupListing): readonly number[] | null {
  if (hidden.has(pid)) return [pid];
  const group = members.get(pgid);
  return group?.includes(pid) ? group : null;
}

function entryOf(all: ReadonlyMap<number, Meter>, pid: number): [number, Meter][] {
  const meter = all.get(pid);
  return meter === undefined ? [] : [[pid, meter]];
}

function rssOf(meters: ReadonlyMap<number, Meter>): number {
  return [...meters.values()].reduce((sum, meter) => sum + meter.rssBytes, 0);
}

function highest(...amounts: readonly (number | null | undefined)[]): number | null {
  const known = amounts.filter((amount) => amount !== null && amount !== undefined);
  return known.length === 0 ? null : Math.max(...known);
}
