import type { Json } from '../shared/json/value.ts';
import { deliveryStateOf, retryStateOf } from '../shared/notify/delivery-state.ts';

export type Counted = 'owed' | 'retrying' | 'parked' | 'unknown';

/** How many notices did not get through, by what is to follow; a run counts once. */
export class NoticeCounts {
  readonly #runs = new Map<string, Counted>();

  note(runId: string, delivery: Json | undefined): void {
    const counted = countedOf(delivery);
    if (counted === null) this.#runs.delete(runId);
    else this.#runs.set(runId, counted);
  }

  drop(runId: string): void {
    this.#runs.delete(runId);
  }

  counts(): Record<Counted, number> {
    const counts = { owed: 0, retrying: 0, parked: 0, unknown: 0 };
    for (const counted of this.#runs.values()) counts[counted]++;
    return counts;
  }
}

/** That a notice may have arrived is more than that it is held. */
export function countedOf(delivery: Json | undefined): Counted | null {
  if (deliveryStateOf(delivery) === 'unknown') return 'unknown';
  const state = retryStateOf(delivery);
  return state === 'skipped' ? null : state;
}
