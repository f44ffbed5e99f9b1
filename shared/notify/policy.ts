/** How notices are sent and repeated; `notify` of liond.yaml, for both binaries. */
export interface NotifyPolicy {
  /** A notifier that runs longer is ended, and whether its notice arrived is unknown. */
  readonly timeoutMs: number;
  /** Notices on their way at the same time. */
  readonly atOnce: number;
  /** Attempts at one notice, by whomever, after which none is made by itself. */
  readonly maxAttempts: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
  /** The last attempts are spread over this long after the end, so that a day's outage is outlived. */
  readonly lastsMs: number;
  /** No attempt by itself later than this after the end. */
  readonly expiresMs: number;
  /** Repeat a notice that may have arrived. */
  readonly retryUnknown: boolean;
  /** Ends with these outcomes are not announced. */
  readonly skipOutcomes: readonly string[];
  /** Ends by `lion job kill` are not announced. */
  readonly skipOwnKills: boolean;
}

const HOUR_MS = 3_600_000;

export const DEFAULT_NOTIFY_POLICY: NotifyPolicy = {
  timeoutMs: 30_000,
  atOnce: 8,
  maxAttempts: 12,
  backoffBaseMs: 30_000,
  backoffCapMs: HOUR_MS,
  lastsMs: 24 * HOUR_MS,
  expiresMs: 48 * HOUR_MS,
  retryUnknown: false,
  skipOutcomes: [],
  skipOwnKills: false,
};
