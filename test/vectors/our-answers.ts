import { Matcher, matching } from '../support/expected.ts';
import { type Json, JsonNumber } from '../support/json-tree.ts';

/** Predicates for what ours answers and no recording says. */

/** `refusal {code, message}`, of this code if one is given. */
export function refusal(code?: string): Matcher {
  return matching(`a refusal ${code ?? ''}`, (actual) => {
    if (!(actual instanceof Map)) return false;
    const said = actual.get('code');
    return isSaid(actual.get('message')) && isSaid(said) && (code === undefined || said === code);
  });
}

/** A directory that holds these names and perhaps those. */
export function namesAmong(surely: readonly string[], perhaps: readonly string[]): Matcher {
  return matching(`the names ${surely} and perhaps ${perhaps}`, (actual) => {
    if (!Array.isArray(actual)) return false;
    const rest = actual.filter((name) => !surely.includes(String(name)));
    return (
      actual.length - rest.length === surely.length && rest.every((name) => perhaps.includes(String(name)))
    );
  });
}

/** What a writer of an end that launches nothing leaves: whether a notice is owed, or why none will go. */
export function ourPromise(isConfigured: boolean): Matcher {
  return matching(
    `a notice ${isConfigured ? 'owed or explicitly put aside' : 'that is not owed'}`,
    (actual) => {
      if (!(actual instanceof Map) || actual.get('attempted') !== false) return false;
      if (!isConfigured) return actual.get('owed') === false;
      return actual.get('owed') === true || isSaid(actual.get('skipped')) || isParked(actual.get('retry'));
    },
  );
}

/** A notice that could not be started, for a reason that is told. */
export function reasonedFailure(): Matcher {
  return new Matcher((actual) => {
    if (!(actual instanceof Map)) return 'wanted a delivery';
    const error = actual.get('error');
    if (actual.get('ok') !== false || actual.get('exit_code') !== null)
      return 'wanted a failure without an exit';
    if (typeof error !== 'string' || !/^[A-Za-z_]+(, [A-Za-z_]+)*$/.test(error))
      return 'wanted a stable reason';
    return error === 'delivery_outcome_unknown' ? 'wanted the outcome to be known' : null;
  });
}

export interface OneWay {
  delivery: Matcher;
  state: Matcher;
  notices: Matcher;
}

/**
 * A notice that the engine could not start and ours may: failed for a reason and not sent, or sent once and
 * delivered, and everything that tells of it says the same.
 */
export function failedOrDelivered(): OneWay {
  let way: 'failed' | 'delivered' | undefined;
  const failure = reasonedFailure();
  const delivery = new Matcher((actual) => {
    const found = isDelivered(actual) ? 'delivered' : 'failed';
    way ??= found;
    if (found !== way) return `wanted it ${way}, as told before`;
    return found === 'delivered' ? null : failure.problem(actual);
  });
  const state = new Matcher((actual) => (actual === way ? null : `wanted ${way}`));
  const notices = new Matcher((actual) => {
    const sent = Array.isArray(actual) ? actual.length : -1;
    return sent === (way === 'delivered' ? 1 : 0) ? null : `wanted the notices of one that is ${way}`;
  });
  return { delivery, state, notices };
}

function isDelivered(delivery: Json | undefined): boolean {
  if (!(delivery instanceof Map)) return false;
  const exit = delivery.get('exit_code');
  const ended = exit instanceof JsonNumber && exit.text === '0' && delivery.get('error') === null;
  return ended && delivery.get('attempted') === true && delivery.get('ok') === true;
}

function isParked(retry: Json | undefined): boolean {
  return retry instanceof Map && retry.get('parked') instanceof Map;
}

function isSaid(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}
