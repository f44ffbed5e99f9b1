/** Something due each so many milliseconds of steady time, and at once where it has never been done. */
export class Period {
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(readonly periodMs: number) {}

  isDue(nowMs: number): boolean {
    return nowMs - this.#lastMs >= this.periodMs;
  }

  restart(nowMs: number): void {
    this.#lastMs = nowMs;
  }
}
