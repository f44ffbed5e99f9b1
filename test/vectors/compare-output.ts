import { type ExpectedObject, Unavailable } from '../support/expected.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import type { Answer } from './call.ts';
import { compareUnknown, compareWrapped } from './compare-status.ts';

const PLAIN = ['run_id', 'status', 'terminal', 'outcome', 'reason_code', 'run_dir'];

/** A recorded `output` against ours, whose console and artifacts are wrapped. */
export function compareOutput(answer: Answer, recorded: ExpectedObject): string[] {
  if (recorded.get('known') === false) return compareUnknown(answer, recorded);
  if (!answer.ok) return [...answer.problems, `not ok: ${shown(answer.error)}`];
  const { data } = answer;
  // A listing that could not be finished is not a value: ours gives none.
  const artifacts = recorded.get('artifacts_state') === 'ok' ? recorded.get('artifacts') : new Unavailable();
  return [
    ...answer.problems,
    ...PLAIN.flatMap((key) => mismatches(data.get(key), recorded.get(key) ?? null, {}, [key])),
    ...compareWrapped(data.get('console'), recorded.get('console') ?? null, 'console'),
    ...compareWrapped(data.get('artifacts'), artifacts ?? null, 'artifacts'),
  ];
}
