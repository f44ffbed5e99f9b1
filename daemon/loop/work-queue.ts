/**
 * Run ids to be looked at. Whoever has a reason (start, watch, sweep, timer, a poke) only adds the id; ids
 * coalesce, one id is never worked twice at once, and an id added while it is worked is worked once more.
 */
import { sleep } from '../../shared/time/sleep.ts';
import { SLICE_MS } from './in-slices.ts';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const BEGUN_LOOK_MS = 20;

export interface WorkQueueOptions {
  readonly concurrency: number;
  readonly work: (id: string) => Promise<void>;
  /** One id's fault is its own: it is due again after `pauseMs`, longer each time. */
  readonly onFault: (id: string, error: unknown, pauseMs: number) => void;
}

export class WorkQueue {
  readonly #waiting = new Set<string>();
  readonly #active = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #faults = new Map<string, number>();
  #pumping = false;
  #stopped = false;

  constructor(readonly options: WorkQueueOptions) {}

  add(id: string): void {
    if (this.#stopped) return;
    if (this.#active.has(id)) this.#again.add(id);
    else this.#waiting.add(id);
    this.#schedulePump();
  }

  /** Ids that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get underWay(): number {
    return this.#active.size;
  }

  /** Resolves when no id waits for its first look any more, or the signal is aborted. */
  async begun(signal: AbortSignal): Promise<void> {
    while (this.#waiting.size > 0 && !signal.aborted) await sleep(BEGUN_LOOK_MS, signal);
  }

  /** Takes nothing new up; resolves when what is under way has finished. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiting.clear();
    this.#again.clear();
    await Promise.all(this.#active.values());
  }

  #schedulePump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    setImmediate(() => {
      this.#pumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const beganMs = performance.now();
    for (const id of this.#waiting) {
      if (this.#active.size >= this.options.concurrency) return;
      if (performance.now() - beganMs >= SLICE_MS) {
        this.#schedulePump();
        return;
      }
      this.#waiting.delete(id);
      this.#begin(id);
    }
  }

  /** It is under way from here on: the work may add its own id, or be over, before it first waits. */
  #begin(id: string): void {
    this.#active.set(id, Promise.resolve());
    const work = this.#work(id);
    if (this.#active.has(id)) this.#active.set(id, work);
  }

  async #work(id: string): Promise<void> {
    try {
      await this.options.work(id);
      this.#faults.delete(id);
    } catch (error) {
      const faults = (this.#faults.get(id) ?? 0) + 1;
      this.#faults.set(id, faults);
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (faults - 1));
      this.options.onFault(id, error, pauseMs);
    } finally {
      this.#active.delete(id);
      if (this.#again.delete(id)) this.#waiting.add(id);
      if (this.#waiting.size > 0) this.#schedulePump();
    }
  }
}
