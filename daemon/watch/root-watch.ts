import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoOf } from '../../shared/errno.ts';

export interface RootEvents {
  /** Something of this name came, went or was replaced in the jobs directory. */
  readonly onName: (name: string) => void;
  /** The jobs directory itself may be another one now. */
  readonly onRootMoved: () => void;
  /** Events were lost: everything may differ. */
  readonly onLost: (errno: string) => void;
  /** It cannot be watched; the sweeps see the root's own signature each second. */
  readonly onUnwatchable: (errno: string) => void;
}

/**
 * Watches the jobs directory for names, and its parent for the directory itself: a watch on a directory that was
 * removed or moved away stays silent for ever. `fs.watch` and not chokidar, which lists the whole directory again
 * for every arrival (seconds of CPU at 50,000 runs, measured).
 */
export class RootWatch {
  #watchers: FSWatcher[] = [];

  constructor(
    readonly jobsDir: string,
    readonly events: RootEvents,
  ) {}

  /** Watches what is at the path now; again after the directory was replaced. */
  arm(): void {
    this.close();
    this.#add(this.jobsDir, (name) => {
      if (name === null) this.events.onLost('unnamed event');
      else this.events.onName(name);
    });
    this.#add(dirname(this.jobsDir), (name) => {
      if (name === null || name === basename(this.jobsDir)) this.events.onRootMoved();
    });
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }

  /** Both are watched. */
  get isArmed(): boolean {
    return this.#watchers.length === 2;
  }

  #add(path: string, onChange: (name: string | null) => void): void {
    try {
      const watcher = watch(path, (_event, name) => onChange(name));
      watcher.on('error', (error) => {
        watcher.close();
        this.events.onLost(errnoOf(error) ?? 'unknown');
      });
      this.#watchers.push(watcher);
    } catch (error) {
      const code = errnoOf(error);
      if (code === null) throw error;
      // A root that is missing is found again by its identity.
      if (code !== 'ENOENT') this.events.onUnwatchable(code);
    }
  }
}
