/** When which run is to be looked at again. What is due is taken out by `take`; nothing fires by itself. */
export class Schedule {
  readonly #dueMs = new Map<string, number>();

  /** The earlier of two times stands. */
  at(id: string, dueMs: number): void {
    this.#dueMs.set(id, Math.min(dueMs, this.#dueMs.get(id) ?? dueMs));
  }

  drop(id: string): void {
    this.#dueMs.delete(id);
  }

  take(nowMs: number): string[] {
    const due = [...this.#dueMs].filter(([, dueMs]) => dueMs <= nowMs).map(([id]) => id);
    for (const id of due) this.#dueMs.delete(id);
    return due;
  }

  get size(): number {
    return this.#dueMs.size;
  }
}
