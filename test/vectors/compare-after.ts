import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Expected, type ExpectedObject, isExpectedObject } from '../support/expected.ts';
import { type Json, JsonNumber, parseJsonObject } from '../support/json-tree.ts';
import { mismatches } from '../support/record-compare.ts';
import { compareNotices, countLifecycleCalls } from './compare-notices.ts';
import { compareFile, compareRecordAfter, compareRecordText } from './compare-record.ts';
import { bytesOf, type LaidOut } from './lay-out.ts';

/** What a sequence left behind on disk, as far as it was recorded. */
export interface After {
  laid: LaidOut;
  /** Other runs' job.json before the calls, by directory name. */
  othersBefore: Map<string, Buffer | null>;
  consoleBefore: string;
  expect: ExpectedObject;
  fill: (expected: Expected) => Expected;
}

const CHECKS: Record<string, (after: After, recorded: Expected) => string[]> = {
  record_after: ({ laid }, recorded) => compareRecordAfter(laid, recorded),
  record_after_text: recordText,
  job_dir_after: ({ laid }, recorded) => mismatches(namesIn(laid.jobDir), recorded, {}, ['job_dir_after']),
  lifecycle_calls: ({ laid }, recorded) => compareLifecycleCalls(laid, recorded),
  notifier: ({ laid }, recorded) => compareNotices(laid, recorded),
  console_note: consoleNote,
  modes_after: modesAfter,
  other_records_after: otherRecords,
};

export function compareAfter(after: After): string[] {
  return [...after.expect].flatMap(([key, recorded]) => CHECKS[key]?.(after, recorded) ?? []);
}

export function compareLifecycleCalls(laid: LaidOut, recorded: Expected): string[] {
  return mismatches(new JsonNumber(String(countLifecycleCalls(laid))), recorded, {}, ['lifecycle_calls']);
}

/** The names in a directory, null where there is none. */
export function namesIn(directory: string): Json {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') return 'not_a_directory';
    throw error;
  }
}

export function consoleOf(laid: LaidOut): string {
  return bytesOf(join(laid.jobDir, 'console.log'))?.toString('utf8') ?? '';
}

function recordText({ laid, expect, fill }: After, text: Expected): string[] {
  if (expect.get('record_after') === 'unchanged') return []; // compared byte for byte already
  if (text === null) return []; // there is no job.json, as record_after says
  if (typeof text !== 'string') throw new Error('a recorded text of job.json that is no text');
  const recorded = fill(parseJsonObject(text));
  return isExpectedObject(recorded) ? compareRecordText(laid, recorded) : ['record_after_text is no object'];
}

/** `notice` or `warning`: one line was added to console.log, and it says which it is; null: nothing was. */
function consoleNote({ laid, consoleBefore }: After, recorded: Expected): string[] {
  const now = consoleOf(laid);
  const added = now.startsWith(consoleBefore) ? now.slice(consoleBefore.length) : `not only added: ${now}`;
  if (recorded === null) return added === '' ? [] : [`console.log: a line was added: ${added}`];
  const one = /^[^\n]+\n$/.test(added) && added.toLowerCase().includes(String(recorded));
  return one ? [] : [`console.log: one line with the word ${String(recorded)} wanted, added: ${added}`];
}

function modesAfter({ laid }: After, recorded: Expected): string[] {
  if (!isExpectedObject(recorded)) throw new Error('recorded modes that are no object');
  return [...recorded].flatMap(([name, mode]) => {
    const found = `0o${(statSync(join(laid.jobDir, name)).mode & 0o777).toString(8)}`;
    return mismatches(found, mode, {}, ['modes_after', name]);
  });
}

function otherRecords({ laid, othersBefore }: After, recorded: Expected): string[] {
  if (!isExpectedObject(recorded)) throw new Error('recorded other records that are no object');
  return [...recorded].flatMap(([name, record]) =>
    compareFile(join(laid.world.jobs, name, 'job.json'), othersBefore.get(name) ?? null, record).map(
      (problem) => `other_records_after ${name} ${problem}`,
    ),
  );
}
