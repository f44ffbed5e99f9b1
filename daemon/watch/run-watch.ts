import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { errnoOf } from '../../shared/errno.ts';

export interface RunEvents {
  readonly onChange: (runId: string) => void;
  /** No further watch can be had: the machine's limit is reached. */
  readonly onLimit: (errno: string) => void;
}

/** Errors that name a limit of the machine, and not a fault of one directory. */
const LIMITS = new Set(['ENOSPC', 'EMFILE', 'ENFILE']);

/**
 * Watches the records of the runs that can still change, and nothing else: two watches a run. Directories and not
 * files are followed, since every write replaces the file. An event is a hint: what it hides (the last of quick
 * writes, a file in a folder made a moment before) the sweeps find.
 *
 * One chokidar watcher a run: `unwatch` of a shared one keeps every path it ever left in a list that each later
 * event is matched against, and leaves the watch on the file behind.
 */
export class RunWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #full = false;

  constructor(
    readonly jobsDir: string,
    readonly events: RunEvents,
  ) {}

  /** Runs that are watched. */
  get count(): number {
    return this.#watchers.size;
  }

  follow(runId: string): void {
    if (this.#full || this.#watchers.has(runId)) return;
    const dir = join(this.jobsDir, runId);
    const watcher = watch(dir, {
      ignoreInitial: true,
      depth: 0,
      atomic: false,
      ignorePermissionErrors: true,
      ignored: (path) => path !== dir && basename(path) !== 'job.json',
    });
    watcher.on('all', () => this.events.onChange(runId));
    watcher.on('error', (error) => this.#onError(runId, error));
    this.#watchers.set(runId, watcher);
  }

  unfollow(runId: string): void {
    const watcher = this.#watchers.get(runId);
    this.#watchers.delete(runId);
    if (watcher !== undefined) void watcher.close();
  }

  /** A limit was met since the last `tryAgain`. */
  get isFull(): boolean {
    return this.#full;
  }

  /** The limit may be another by now. */
  tryAgain(): void {
    this.#full = false;
  }

  async close(): Promise<void> {
    const closing = [...this.#watchers.values()].map((watcher) => watcher.close());
    this.#watchers.clear();
    await Promise.all(closing);
  }

  /** The run that cannot be watched is looked at by the sweeps, as are all. */
  #onError(runId: string, error: unknown): void {
    this.unfollow(runId);
    const code = errnoOf(error) ?? 'unknown';
    if (!LIMITS.has(code)) return;
    this.#full = true;
    this.events.onLimit(code);
  }
}
