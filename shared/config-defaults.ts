import { DEFAULT_NOTIFY_POLICY, type NotifyPolicy } from './notify/policy.ts';
import type { Retention } from './run/prune/decide.ts';

/** `liond.yaml`, which both binaries read; every key of it is in docs/operations.md. */
export interface Config {
  /**
   * This store is used from one pid namespace on one host, so records without `origin` may be judged from
   * inside it (a container), and so may those of earlier namespaces of this boot.
   */
  readonly judgeUnownedRecords: boolean;
  /** Watch files for promptness; without it the sweeps find everything a little later. */
  readonly watch: boolean;
  /** Keep the index. */
  readonly index: boolean;
  /** Between samples of what running runs use; 0: none are taken. */
  readonly usageIntervalMs: number;
  readonly notify: NotifyPolicy;
  /** What the supervisor removes of the history; as it comes, nothing. */
  readonly retention: Retention;
}

export const DEFAULT_CONFIG: Config = {
  judgeUnownedRecords: false,
  watch: true,
  index: true,
  usageIntervalMs: 15_000,
  notify: DEFAULT_NOTIFY_POLICY,
  retention: { olderThanMs: null, keepNewest: null, maxBytes: null },
};
