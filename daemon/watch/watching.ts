import type { Engine } from '../../shared/engine.ts';
import type { Degradations } from '../degradations.ts';
import { RootWatch } from './root-watch.ts';
import { RunWatch } from './run-watch.ts';

export interface WatchEvents {
  /** This run may have changed. */
  readonly onRun: (runId: string) => void;
  /** The root may be another one, which nothing of this watches. */
  readonly onRootMoved: () => void;
  /** Everything may have changed. */
  readonly onDesync: (why: string) => void;
}

/** chokidar drops a change within 50 ms of the last one on a path: a look after a longer quiet sees the last. */
const QUIET_MS = 75;

/**
 * Promptness from file events, of the root and of the runs that can still change. It yields run ids, or "all may
 * differ", and decides nothing; off, failed or silent, it costs only time.
 */
export class Watching {
  #root: RootWatch | null = null;
  #runs: RunWatch | null = null;
  readonly #quiet = new Map<string, NodeJS.Timeout>();

  constructor(
    readonly engine: Engine,
    readonly degradations: Degradations,
    readonly events: WatchEvents,
  ) {}

  /** Begins or ends to watch where the configuration says so by now: setting watches anew may miss a change. */
  reconfigure(openRuns: Iterable<string>): void {
    if (this.engine.config.watch !== (this.#root !== null)) this.rearm(openRuns);
  }

  /** Watches as configured what is there now: also after the root has become another. */
  rearm(openRuns: Iterable<string>): void {
    this.#letGo();
    if (!this.engine.config.watch) {
      this.degradations.set({
        code: 'watch_off',
        cause: 'files are not watched (watch: false in liond.yaml); changes are found by the sweeps',
        cure: 'remove watch: false to have them found at once',
      });
      return;
    }
    this.degradations.clear('watch_off');
    this.#root = new RootWatch(this.engine.home.jobsDir, {
      onName: (name) => this.#soon(name),
      onRootMoved: () => this.events.onRootMoved(),
      onLost: (errno) => this.events.onDesync(`watching the jobs directory failed (${errno})`),
      onUnwatchable: (errno) => this.#onLimit(errno),
    });
    this.#root.arm();
    this.#runs = new RunWatch(this.engine.home.jobsDir, {
      onChange: (runId) => this.#soon(runId),
      onLimit: (errno) => this.#onLimit(errno),
    });
    for (const runId of openRuns) this.follow(runId, true);
  }

  follow(runId: string, watched: boolean): void {
    if (watched) this.#runs?.follow(runId);
    else this.#runs?.unfollow(runId);
  }

  /** The machine may have watches to give by now; that a limit was met stands until a whole round went well. */
  tryAgain(openRuns: Iterable<string>): void {
    if (this.#runs === null || this.#root === null) return;
    if (!this.#runs.isFull && this.#root.isArmed) this.degradations.clear('watch_limit_reached');
    if (!this.#root.isArmed) this.#root.arm();
    this.#runs.tryAgain();
    for (const runId of openRuns) this.follow(runId, true);
  }

  /** Runs that are watched. */
  get count(): number {
    return this.#runs?.count ?? 0;
  }

  close(): void {
    for (const timer of this.#quiet.values()) clearTimeout(timer);
    this.#quiet.clear();
    this.#letGo();
  }

  /** What was seen already is looked at all the same. */
  #letGo(): void {
    this.#root?.close();
    this.#root = null;
    void this.#runs?.close();
    this.#runs = null;
  }

  #soon(runId: string): void {
    const waiting = this.#quiet.get(runId);
    if (waiting !== undefined) {
      waiting.refresh();
      return;
    }
    const look = (): void => {
      this.#quiet.delete(runId);
      this.events.onRun(runId);
    };
    this.#quiet.set(runId, setTimeout(look, QUIET_MS));
  }

  #onLimit(errno: string): void {
    this.degradations.set({
      code: 'watch_limit_reached',
      cause: `no more files can be watched (${errno}); what is not watched is found by the sweeps`,
      cure: 'raise fs.inotify.max_user_watches (sysctl), or end other programs that watch many files',
    });
  }
}
