import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  ErrorEnvelope,
  type Expected,
  type ExpectedObject,
  isExpectedObject,
  matching,
} from '../support/expected.ts';
import { type Json, type JsonObject, parseJson, parseJsonObject } from '../support/json-tree.ts';
import { LION_MAIN } from '../support/lion.ts';
import { writePythonJson } from '../support/python-json.ts';
import { mismatches } from '../support/record-compare.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { Answer } from './call.ts';
import { namesIn } from './compare-after.ts';
import { compareRecord } from './compare-record.ts';
import { compareError } from './compare-status.ts';
import { bytesOf, type LaidOut } from './lay-out.ts';
import { fillExpected } from './placeholders.ts';

/** A submission that made a run. */
export interface Submitted {
  answer: Answer;
  /** Null where nothing could be started. */
  pid: number | null;
  createTime: number | null;
  /** The time of the call. */
  now: Expected;
  /** Where the child notes how it was started. */
  childNote: string;
}

const HOOK_THERE = '$PYTHON -m lionagi.mcp._notify_hook --run-id $RUN --status {status}';
const HOOK_OURS = `${process.execPath} ${LION_MAIN} hook terminal --run-id $RUN --status {status}`;

/** What our handle says beside the recorded. */
const OUR_HANDLE_KEYS = ['job_dir', 'lifecycle', 'tags'];

/** Everything in which a run differs from what was recorded of it: its answer, its directory and its child. */
export async function compareSubmitted(
  laid: LaidOut,
  submitted: Submitted,
  expect: ExpectedObject,
): Promise<string[]> {
  const fill = (expected: Expected | undefined): Expected => filled(laid, submitted, expected ?? null);
  const recordText = expect.get('record_text');
  return [
    ...compareHandle(submitted.answer, fill(expect.get('handle')), laid.runId),
    ...compareRecordNow(laid, fill(expect.get('record'))),
    ...(typeof recordText === 'string' ? compareRecordNow(laid, fill(parseJsonObject(recordText))) : []),
    ...mismatches(namesIn(laid.jobDir), expect.get('job_dir') ?? null, {}, ['job_dir']),
    ...compareModes(laid, expect.get('modes')),
    ...['prompt.txt', 'mcp-servers.json'].flatMap((name) => compareText(laid, name, fill(expect.get(name)))),
    ...(await compareChild(laid, submitted, fill(expect.get('child')))),
  ];
}

function compareHandle(answer: Answer, recorded: Expected, runId: string): string[] {
  if (recorded instanceof ErrorEnvelope) {
    const detail = new Map([['run_id', runId]]);
    const mayAdd = () => true;
    return [
      ...compareError(answer, recorded.kind),
      ...mismatches(answer.error.get('detail'), detail, { mayAdd }, ['error', 'detail']),
    ];
  }
  const mayAdd = (path: readonly string[], key: string) => path.length === 1 && OUR_HANDLE_KEYS.includes(key);
  const handle = mismatches(answer.data, recorded, { inOrder: true, mayAdd }, ['handle']);
  return [...answer.problems, ...handle, ...(answer.ok ? [] : [writePythonJson(answer.error)])];
}

/** The values in the order of their keys, laid out as the Python writers do it. */
function compareRecordNow(laid: LaidOut, recorded: Expected): string[] {
  const text = readFileSync(laid.recordFile, 'utf8');
  const record = parseJson(text);
  const layout = writePythonJson(record) === text ? [] : [`job.json is laid out otherwise: ${text}`];
  return [...layout, ...compareRecord(record, recorded).map((problem) => `record ${problem}`)];
}

function compareModes(laid: LaidOut, recorded: Expected | undefined): string[] {
  if (!isExpectedObject(recorded)) return ['recorded modes that are no object'];
  return [...recorded].flatMap(([name, mode]) => {
    const found = `0o${(statSync(join(laid.jobDir, name)).mode & 0o777).toString(8)}`;
    return mismatches(found, mode, {}, ['modes', name]);
  });
}

/** A file's text; none where none was recorded. */
function compareText(laid: LaidOut, name: string, recorded: Expected): string[] {
  return mismatches(bytesOf(join(laid.jobDir, name))?.toString('utf8') ?? null, recorded, {}, [name]);
}

async function compareChild(laid: LaidOut, submitted: Submitted, recorded: Expected): Promise<string[]> {
  if (recorded === null) return submitted.pid === null ? [] : ['a child was started, wanted none'];
  if (!isExpectedObject(recorded)) return ['a recorded child that is no object'];
  if (submitted.pid === null) return ['no child was started'];
  const note = await waitUntil('the child to note how it was started', () => bytesOf(submitted.childNote));
  const child = parseJsonObject(note.toString('utf8'));
  const log = bytesOf(join(laid.jobDir, 'console.log'))?.toString('utf8');
  return [
    ...mismatches(withoutEnv(laid, child), recorded, {}, ['child']),
    ...mismatches(log, 'child says hi\n', {}, ['console.log']),
  ];
}

/** Its environment as what was added to the caller's, and taken from it. */
function withoutEnv(laid: LaidOut, child: JsonObject): JsonObject {
  const given = laid.world.env;
  const got = child.get('env');
  if (!(got instanceof Map)) throw new Error('a child without an environment');
  const rest = [...child].filter(([key]) => key !== 'env');
  const added = [...got].filter(([name, value]) => given[name] !== value);
  return new Map<string, Json>([
    ...rest,
    ['env_added', new Map(added)],
    ['env_removed', Object.keys(given).filter((name) => !got.has(name))],
  ]);
}

/** The recorded values as this run has them: its hook is ours, and its own times are of the call. */
function filled(laid: LaidOut, { pid, createTime, now }: Submitted, recorded: Expected): Expected {
  const facts = { ...laid.facts, pid: pid ?? 0, pgid: pid ?? 0, createTime: createTime ?? 0 };
  return fillExpected(withOurs(recorded, now), facts, now);
}

function withOurs(recorded: Expected, now: Expected, key = ''): Expected {
  // Elsewhere a submission stays as it was laid out; here it is the call's.
  if (key === 'submitted_at' && recorded === '$NOW') return now;
  if (recorded === 'SET') return matching('any text', (text) => typeof text === 'string' && text !== '');
  if (typeof recorded === 'string') return recorded.replace(HOOK_THERE, () => HOOK_OURS);
  if (Array.isArray(recorded)) return recorded.map((item) => withOurs(item, now));
  if (!isExpectedObject(recorded)) return recorded;
  return new Map([...recorded].map(([name, item]) => [name, withOurs(item, now, name)]));
}
