/** Searches the moment at which either of two may come first, and stays about it: wherever it is on this machine. */
export class Aim {
  #stepMs: number;
  #last: 'early' | 'late' | null = null;

  constructor(
    public atMs: number,
    readonly leastStepMs: number,
  ) {
    this.#stepMs = leastStepMs;
  }

  /** The last try came too early, or too late; the same again and again is far off. */
  was(what: 'early' | 'late'): void {
    this.#stepMs = what === this.#last ? Math.min(this.#stepMs * 2, this.leastStepMs * 16) : this.leastStepMs;
    this.#last = what;
    this.atMs += what === 'early' ? this.#stepMs : -this.#stepMs;
  }
}
