/** What is remembered of a run that can still change; all of it can be read anew from disk. */
export interface OpenRun {
  /** Of job.json when it was last read; null: never, or there was none. */
  signature: string | null;
  /** The pid its record claims, where the last look found that process alive. */
  pid: number | null;
  /** The word for that process, taken before the look. */
  token: string | null;
  /** As recorded. */
  groupId: number | null;
  seenAlive: boolean;
  /** When its process was first seen gone with marked survivors left, on the clock of `performance.now()`. */
  goneSinceMs: number | null;
  /** Looks in a row that found it neither alive nor ended. */
  fruitless: number;
  /** Not to be looked at before this, unless its record changes. */
  notBeforeMs: number;
}

/** All runs by name: the open ones with what is remembered, the ended ones with their signature alone. */
export class Roster {
  readonly #open = new Map<string, OpenRun>();
  readonly #ended = new Map<string, string | null>();
  /** Ended runs that are not history yet: the stat sweep looks at them again. */
  readonly #unsettled = new Set<string>();

  get size(): number {
    return this.#open.size + this.#ended.size;
  }

  get openCount(): number {
    return this.#open.size;
  }

  has(runId: string): boolean {
    return this.#open.has(runId) || this.#ended.has(runId);
  }

  open(): IterableIterator<[string, OpenRun]> {
    return this.#open.entries();
  }

  *names(): Generator<string> {
    yield* this.#open.keys();
    yield* this.#ended.keys();
  }

  openRun(runId: string): OpenRun | null {
    return this.#open.get(runId) ?? null;
  }

  /** Of its record at the last look; null: there was none, or it is to be looked at again. */
  signatureOf(runId: string): string | null {
    return this.#open.get(runId)?.signature ?? this.#ended.get(runId) ?? null;
  }

  /** It can still change; what was remembered of it stays. */
  asOpen(runId: string): OpenRun {
    this.#ended.delete(runId);
    this.#unsettled.delete(runId);
    const known = this.#open.get(runId);
    if (known !== undefined) return known;
    const run: OpenRun = {
      signature: null,
      pid: null,
      token: null,
      groupId: null,
      seenAlive: false,
      goneSinceMs: null,
      fruitless: 0,
      notBeforeMs: 0,
    };
    this.#open.set(runId, run);
    return run;
  }

  asEnded(runId: string, signature: string | null): void {
    this.#open.delete(runId);
    this.#ended.set(runId, signature);
  }

  settle(runId: string, settled: boolean): void {
    if (settled) this.#unsettled.delete(runId);
    else this.#unsettled.add(runId);
  }

  isSettled(runId: string): boolean {
    return !this.#unsettled.has(runId);
  }

  forget(runId: string): void {
    this.#open.delete(runId);
    this.#ended.delete(runId);
    this.#unsettled.delete(runId);
  }
}
