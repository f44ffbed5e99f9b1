import type { Degradation } from '../shared/daemon/health.ts';
import type { Journal } from './journal.ts';

/** What does not work as it should right now: said in the log as it comes and goes, and shown as it stands. */
export class Degradations {
  readonly #current = new Map<string, Degradation>();

  constructor(readonly journal: Journal) {}

  set(degradation: Degradation): void {
    const known = this.#current.get(degradation.code);
    this.#current.set(degradation.code, degradation);
    if (known?.cause !== degradation.cause) this.journal({ event: 'degraded', ...degradation });
  }

  clear(code: string): void {
    if (this.#current.delete(code)) this.journal({ event: 'recovered', code });
  }

  list(): Degradation[] {
    return [...this.#current.values()];
  }
}
