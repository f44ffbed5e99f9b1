import { type FSWatcher, watch } from 'node:fs';
import { errnoOf } from '../errno.ts';
import { sleep } from '../time/sleep.ts';

/** Beyond this many runs the poll alone serves: watches are the machine's, not ours. */
const MAX_WATCHES = 64;
/** A record is replaced in a few steps; one look after they are over is enough. */
const QUIET_MS = 20;

export interface Wake {
  /** Ends at the next change in a watched run, or after `ms`. */
  next(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Watching only shortens the wait: where it fails, the poll finds everything a little later. */
export function watchRuns(runDirs: readonly string[]): Wake {
  let changed = new AbortController();
  const watchers = runDirs.slice(0, MAX_WATCHES).flatMap((dir) => {
    const watcher = tryWatch(dir, (name) => {
      if (name === null || name === 'job.json') changed.abort();
    });
    return watcher === null ? [] : [watcher];
  });
  return {
    async next(ms, signal) {
      await sleep(ms, AbortSignal.any([signal, changed.signal]));
      if (changed.signal.aborted) await sleep(QUIET_MS, signal);
      changed = new AbortController();
    },
    close: () => {
      for (const watcher of watchers) watcher.close();
    },
  };
}

function tryWatch(dir: string, onChange: (name: string | null) => void): FSWatcher | null {
  try {
    const watcher = watch(dir, (_event, name) => onChange(name));
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch (error) {
    // No watch to be had (limit reached, directory gone): the poll serves.
    if (errnoOf(error) === null) throw error;
    return null;
  }
}
