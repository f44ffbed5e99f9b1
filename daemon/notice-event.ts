import type { JsonObject } from '../shared/json/value.ts';
import { deliveryStateOf, retryStateOf } from '../shared/notify/delivery-state.ts';
import { parkedOf } from '../shared/notify/next-step.ts';
import type { Event } from './journal.ts';

/** What came of a notice and what follows, of a delivery object that we wrote: all its words are ours. */
export function noticeEvent(runId: string, delivery: JsonObject): Extract<Event, { event: 'notice' }> {
  const parked = parkedOf(delivery);
  return {
    event: 'notice',
    run_id: runId,
    state: deliveryStateOf(delivery),
    next: retryStateOf(delivery),
    ...(parked === null ? {} : { parked: parked.reason }),
  };
}
