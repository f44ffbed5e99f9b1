import { type Expected, type ExpectedObject, Unavailable } from '../support/expected.ts';
import type { Json } from '../support/json-tree.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import type { Answer } from './call.ts';

/** Keys of ours that may stand in `notify_delivery`, beside the recorded ones. */
export const OUR_DELIVERY_KEYS = ['owed', 'next_at', 'retry', 'delivery_id', 'attempts', 'skipped', 'claim'];

/** Recorded name -> the name of the availability wrapper that holds it. */
const WRAPPED: Record<string, string> = {
  notify_delivery: 'notify_delivery',
  run: 'run',
  log_tail: 'console',
};

/** Recorded keys that say of the answer what our envelope says by itself, or that are not of our contract. */
const NOT_IN_DATA = ['known', 'record_state', 'server', 'error'];

/** A recorded `status` against ours. Other keys may stand beside the recorded ones at the top. */
export function compareStatus(answer: Answer, recorded: ExpectedObject): string[] {
  if (recorded.get('known') === false) return compareUnknown(answer, recorded);
  if (!answer.ok) return [...answer.problems, `not ok: ${shown(answer.error)}`];
  const problems = [
    ...answer.problems,
    ...mismatches(answer.data.get('record_state'), 'ok', {}, ['record_state']),
  ];
  if (answer.data.has('known')) problems.push('data has a key `known`');
  for (const [key, value] of recorded) {
    if (NOT_IN_DATA.includes(key)) continue;
    const wrapper = WRAPPED[key];
    problems.push(
      ...(wrapper === undefined
        ? mismatches(answer.data.get(key), value, {}, [key])
        : compareWrapped(answer.data.get(wrapper), value, wrapper)),
    );
  }
  return problems;
}

/** `known: false`: there is no record, or none that can be used. */
export function compareUnknown(answer: Answer, recorded: ExpectedObject): string[] {
  const state = recorded.get('record_state');
  if (typeof state !== 'string') return ['a recording of no record without its state'];
  const problems = compareError(answer, state === 'absent' ? 'not_found' : 'unavailable');
  const detail = answer.error.get('detail');
  const said = detail instanceof Map ? detail.get('record_state') : undefined;
  if (state !== 'absent' && said !== state)
    problems.push(`detail.record_state: wanted ${state}, found ${shown(said)}`);
  return problems;
}

export function compareError(answer: Answer, kind: string): string[] {
  if (answer.ok) return [...answer.problems, `ok, wanted an error ${kind}: ${shown(answer.data)}`];
  return [...answer.problems, ...mismatches(answer.error.get('kind'), kind, {}, ['error', 'kind'])];
}

/** {available, value, reason_code, detail} around a recorded value; a recorded null may be either. */
export function compareWrapped(wrapper: Json | undefined, recorded: Expected, name: string): string[] {
  if (!(wrapper instanceof Map)) return [`/${name}: not a wrapper: ${shown(wrapper)}`];
  const missing = ['available', 'value', 'reason_code', 'detail'].filter((key) => !wrapper.has(key));
  const problems = missing.map((key) => `/${name}: the wrapper has no ${key}`);
  const available = wrapper.get('available');
  if (typeof available !== 'boolean') problems.push(`/${name}/available: ${shown(available)}`);
  if (recorded instanceof Unavailable) {
    if (available !== false) problems.push(`/${name}: available`);
    return problems.concat(mismatches(wrapper.get('value'), null, {}, [name, 'value']));
  }
  if (recorded !== null && available !== true) problems.push(`/${name}: not available: ${shown(wrapper)}`);
  if (available === false && typeof wrapper.get('reason_code') !== 'string')
    problems.push(`/${name}: not available without a reason_code`);
  const mayAdd = (path: readonly string[], key: string) =>
    name === 'notify_delivery' && path.length === 2 && OUR_DELIVERY_KEYS.includes(key);
  return problems.concat(mismatches(wrapper.get('value'), recorded, { mayAdd }, [name, 'value']));
}
