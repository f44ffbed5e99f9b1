import { Matcher } from '../support/expected.ts';

/** As Python writes UTC: the fraction is dropped when it is zero. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/;

/** A time that the calls between these two took themselves, milliseconds since the epoch. */
export function timeOfCall(fromMs: number, toMs: number): Matcher {
  return new Matcher((actual) => {
    if (typeof actual !== 'string' || !ISO.test(actual)) return 'wanted a time of the call';
    const ms = Date.parse(actual);
    return ms >= fromMs - 1 && ms <= toMs + 1 ? null : `wanted a time from ${fromMs} to ${toMs}`;
  });
}
