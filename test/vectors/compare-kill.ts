import type { ExpectedObject } from '../support/expected.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import type { Answer } from './call.ts';

const RECORDED = ['killed', 'reason_code', 'pid', 'pgid'];

/** A recorded `kill` against ours, which also lists what is left alive. */
export function compareKill(answer: Answer, recorded: ExpectedObject): string[] {
  if (!answer.ok) return [...answer.problems, `not ok: ${shown(answer.error)}`];
  const { data } = answer;
  const reason = data.get('reason');
  const given = typeof reason === 'string' && reason !== '';
  if (!given && reason !== null) return [`/reason: neither words nor null: ${shown(reason)}`];
  return [
    ...answer.problems,
    ...RECORDED.flatMap((key) => mismatches(data.get(key), recorded.get(key) ?? null, {}, [key])),
    ...mismatches(given, recorded.get('reason_given') ?? null, {}, ['reason given']),
    ...leftProblems(answer),
  ];
}

function leftProblems({ data }: Answer): string[] {
  const [remaining, escaped] = [pidsIn(data.get('remaining')), pidsIn(data.get('escaped'))];
  if (remaining === null || escaped === null) return [`what is left is not listed: ${shown(data)}`];
  const problems = escaped.every((pid) => remaining.includes(pid)) ? [] : ['/escaped: not all remain'];
  return [...problems, ...mismatches(data.get('gone'), remaining.length === 0, {}, ['gone'])];
}

function pidsIn(value: unknown): string[] | null {
  if (!Array.isArray(value) || !value.every((pid) => pid instanceof JsonNumber)) return null;
  return value.map((pid) => pid.text);
}
