import { type Expected, type ExpectedObject, isExpectedObject } from '../support/expected.ts';
import { type Json, parseJson } from '../support/json-tree.ts';
import { mismatches, rewrittenWithoutNeed } from '../support/record-compare.ts';
import { OUR_DELIVERY_KEYS } from './compare-status.ts';
import { bytesOf, type LaidOut } from './lay-out.ts';

/** Keys of ours that may stand in a record, beside the recorded ones. */
export const OUR_RECORD_KEYS = ['origin', 'survivors', 'late_report', 'pid_start_ticks'];

/** A record against a recorded one: values, number texts' kinds and the order of keys; ours may add its keys. */
export function compareRecord(actual: Json | undefined, recorded: Expected): string[] {
  return mismatches(actual, recorded, { inOrder: true, mayAdd: mayAddToRecord });
}

function mayAddToRecord(path: readonly string[], key: string): boolean {
  if (path.length === 0) return OUR_RECORD_KEYS.includes(key);
  return path.length === 1 && path[0] === 'notify_delivery' && OUR_DELIVERY_KEYS.includes(key);
}

/** job.json of the run after the calls: "unchanged", null for none, {"hex"}, or the record. */
export function compareRecordAfter(laid: LaidOut, recorded: Expected): string[] {
  return compareFile(laid.recordFile, laid.before, recorded).map((problem) => `record_after ${problem}`);
}

export function compareFile(file: string, before: Buffer | null, recorded: Expected): string[] {
  const after = bytesOf(file);
  if (recorded === null) return after === null ? [] : ['there is one, wanted none'];
  if (after === null) return ['there is none'];
  if (recorded === 'unchanged')
    return before?.equals(after) ? [] : [`changed: ${after.toString().slice(0, 600)}`];
  if (isExpectedObject(recorded) && recorded.has('hex'))
    return after.toString('hex') === recorded.get('hex') ? [] : ['other bytes'];
  return [...recordProblems(after, recorded), ...keptProblems(before, after)];
}

/** The recorded text of job.json; only its values count, since ours keeps the layout that it finds. */
export function compareRecordText(laid: LaidOut, recorded: ExpectedObject): string[] {
  const after = bytesOf(laid.recordFile);
  if (after === null) return ['record_after_text: there is none'];
  return recordProblems(after, recorded).map((problem) => `record_after_text ${problem}`);
}

function recordProblems(after: Buffer, recorded: Expected): string[] {
  try {
    return compareRecord(parseJson(after.toString('utf8')), recorded);
  } catch (error) {
    return [`does not parse: ${String(error)}`];
  }
}

function keptProblems(before: Buffer | null, after: Buffer): string[] {
  try {
    return before === null ? [] : rewrittenWithoutNeed(before.toString('utf8'), after.toString('utf8'));
  } catch {
    return []; // a record that did not parse before has no values to keep
  }
}
