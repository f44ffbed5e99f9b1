import { chmodSync } from 'node:fs';
import {
  ErrorEnvelope,
  type Expected,
  type ExpectedObject,
  isExpectedObject,
  matching,
  Unavailable,
} from '../support/expected.ts';
import { JsonNumber, parseJsonObject } from '../support/json-tree.ts';
import type { LaidOut } from './lay-out.ts';
import { loadGroup, type Vector } from './load.ts';
import { failedOrDelivered, namesAmong, ourPromise, reasonedFailure, refusal } from './our-answers.ts';

/**
 * Where we answer differently on purpose, and nowhere else: `why` quotes the point of the recordings' README
 * ("Where we answer differently, on purpose"), `adjust` turns the recorded expectation into ours.
 */
export interface Difference {
  ids: readonly string[] | ((vector: Vector) => boolean);
  why: string;
  adjust: (expect: ExpectedObject, vector: Vector) => void;
  /** Something that the vector's form cannot say, done after it is laid out. */
  arrange?: (laid: LaidOut) => void;
}

export function differencesOf(vector: Vector): Difference[] {
  return DIFFERENCES.filter(({ ids }) => (typeof ids === 'function' ? ids(vector) : ids.includes(vector.id)));
}

const RAISES = '`{"raises": ...}`: ours answers, with a record state, a per-id error or a tolerated field.';
const STABLE_REASON =
  'A notifier that could not be started for a stable reason is a recorded failure with that reason, and one ' +
  'that exited 0 is delivered, where the engine crashed and left `delivery_outcome_unknown`.';
const NOT_CACHED = 'A lifecycle end that could not be cached stays non-terminal with a `refusal`.';
const LIMITS = '`--limit` and `--tail-chars` below 1 are `invalid_input`.';

const DIFFERENCES: readonly Difference[] = [
  {
    ids: ['reap-040', 'reap-041', 'reap-042'],
    why: `${RAISES} A number that JSON cannot say does not keep a gone run from its end.`,
    adjust: (expect, vector) => {
      const model = recordedIn('reap', 'reap-002');
      for (const verb of ['status', 'list_row', 'wait']) expect.set(verb, modelled(model, verb, vector));
      for (const verb of ['status', 'list_row'])
        set(expect, verb, { kind: null, label: null, submitted_at: null });
      expect.set('record_after', reapedRaw(vector, model));
    },
  },
  {
    ids: ['bytes-023', 'bytes-025'],
    why: `${RAISES} What is not changed keeps its text, NaN and 1e999 too.`,
    adjust: (expect, vector) => {
      const record: ExpectedObject = rawRecord(vector);
      record.set('notify_delivery', new Map([['attempted', false]]));
      expect.set('calls', [
        new Map<string, Expected>([
          ['record', record],
          ['state', 'ok'],
          ['refused', false],
        ]),
      ]);
      expect.set('record_after', record);
      expect.delete('record_after_text');
    },
  },
  {
    ids: ['bytes-020', 'bytes-021'],
    why: "A write goes to the directory that was asked about, never to another run's (such a record is foreign and is not written).",
    adjust: (expect) => {
      const untold = matching(
        'no notice told of',
        (record) => !(record instanceof Map) || !record.has('notify_delivery'),
      );
      const any = matching('something said', (value) => value !== undefined);
      expect.set('calls', [
        new Map<string, Expected>([
          ['record', untold],
          ['state', any],
          ['refused', any],
        ]),
      ]);
    },
  },
  {
    ids: ['writers-041'],
    why: 'Traps: 1, true and 1.0 are equal there, so nothing is written between them. The record that stands is told, not its equal.',
    adjust: (expect, vector) => set(callsOf(expect)[0], 'record', Object.fromEntries(rawRecord(vector))),
  },
  {
    ids: ['bytes-018'],
    why: 'Files we create are 0600; a rewrite keeps the mode it found.',
    arrange: (laid) => chmodSync(laid.recordFile, 0o600), // what the title says and the vector cannot
    adjust: (expect) => set(expect, 'modes_after', { 'job.json': '0o600' }),
  },
  {
    ids: ['damaged-065', 'damaged-066', 'damaged-068'],
    why: `${RAISES} A log that is no path leaves the console unavailable, and nothing else.`,
    adjust: (expect, vector) => {
      const model = recordedIn('damaged', 'damaged-067');
      for (const verb of ['status', 'list_row', 'wait', 'output'])
        expect.set(verb, modelled(model, verb, vector));
      set(expect, 'status', { log_tail: new Unavailable() });
      set(expect, 'output', { console: new Unavailable(), run_dir: `$LIONAGI_HOME/runs/${vector.runId}` });
    },
  },
  {
    ids: ['terminal-055', 'terminal-056'],
    why: `${RAISES} \`status\` is an open vocabulary: shown as it stands, and the end stands.`,
    adjust: (expect, vector) => {
      const model = recordedIn('terminal', 'terminal-057');
      for (const verb of ['status', 'list_row', 'wait']) expect.set(verb, modelled(model, verb, vector));
      const status = vector.record?.get('status') ?? null;
      for (const verb of ['status', 'list_row'])
        set(expect, verb, { status, outcome: 'failed', reason_code: null });
    },
  },
  {
    ids: ['list-013'],
    why: `${RAISES} Never a spoiled list.`,
    adjust: (expect, vector) => {
      const rows = callsOf(recordedIn('list', 'list-001'))[0];
      const good = Array.isArray(rows) ? rows.slice(-3) : [];
      const [id = '', poison] = [...vector.otherRecords].find(([name]) => name.endsWith('bad000')) ?? [];
      const bad = new Map(objectOf(good[1]));
      bad.set('run_id', id).set('label', 'a label').set('outcome', 'failed');
      bad.set('status', poison instanceof Map ? (poison.get('status') ?? null) : null);
      expect.set('calls', [[bad, ...good], [bad]]);
    },
  },
  {
    ids: ['lifecycle-056'],
    why: NOT_CACHED,
    adjust: (expect) => {
      for (const verb of ['status', 'list_row']) keepOpen(objectOf(expect.get(verb)));
      set(expect, 'status', { refusal: refusal() });
      const wait = { bucket: 'stopped_without_end', all_terminal: false, timed_out: false };
      set(expect, 'wait', wait);
      expect.set('job_dir_after', namesAmong(['job.json'], ['job.lock']));
    },
  },
  {
    ids: ['lifecycle-058'],
    why: NOT_CACHED,
    adjust: (expect) => {
      for (const status of callsOf(expect))
        keepOpen(objectOf(status)).set('refusal', refusal('lock_unavailable'));
    },
  },
  {
    ids: ['lifecycle-060', 'lifecycle-062'],
    why: `${NOT_CACHED} A record in one run's directory that names another run answers for itself by its directory and is never ended through the other's.`,
    adjust: (expect) => {
      for (const status of callsOf(expect)) {
        const own = keepOpen(objectOf(status));
        own.set('kind', 'agent').set('label', 'a label').set('refusal', refusal());
      }
      expect.set('job_dir_after', namesAmong(['job.json'], ['job.lock']));
    },
  },
  {
    ids: (vector) => endsWithoutPromise(vector).length > 0,
    why: 'A kill or a cached lifecycle end records what is owed: `notify_delivery` appears where notify-127, 132 and their kin leave it absent.',
    adjust: (expect, vector) => {
      for (const record of endsWithoutPromise(vector))
        record.set('notify_delivery', ourPromise(vector.record?.get('notify_command') !== null));
      expect.delete('record_after_text');
    },
  },
  {
    ids: ['kill-014'],
    why: `A kill with the lock refused is an end that is not on the record. ${NOT_CACHED}`,
    adjust: (expect) => {
      keepOpen(objectOf(expect.get('status_after_kill'))).set('refusal', refusal('lock_unavailable'));
    },
  },
  {
    ids: ['settings-075', 'settings-122'],
    why: 'Filters of settings (`kinds`, `ids`) are applied, not only checked. A background run is of kind `session`.',
    adjust: (expect) => {
      const untold = () => new Map([['attempted', false]]);
      const [status, rows] = callsOf(expect);
      objectOf(status).set('notify_delivery', untold());
      for (const row of Array.isArray(rows) ? rows : []) objectOf(row).set('notify_delivery_state', 'none');
      objectOf(expect.get('record_after')).set('notify_delivery', untold());
      expect.set('notifier', []);
    },
  },
  {
    ids: ['list-002'],
    why: LIMITS,
    adjust: (expect) =>
      void expect.set(
        'calls',
        callsOf(expect).map(() => new ErrorEnvelope('invalid_input')),
      ),
  },
  {
    ids: ['output-003'],
    why: LIMITS,
    adjust: (expect, vector) => {
      const calls = callsOf(expect).map((answer, index) =>
        Number(vector.calls[index]?.[3] ?? 1) < 1 ? new ErrorEnvelope('invalid_input') : answer,
      );
      expect.set('calls', calls);
    },
  },
  {
    ids: ['wait-016'],
    why: 'Requested values of wait are echoed as JSON numbers or strings; NaN is `invalid_input`.',
    adjust: (expect) => void expect.set('calls', [new ErrorEnvelope('invalid_input')]),
  },
  {
    ids: ['hook-014'],
    why: 'No second notice after one was delivered for the same end (hook-014 and its kin send again).',
    adjust: (expect) => void expect.set('notifier', listOf(expect.get('notifier')).slice(0, 1)),
  },
  {
    ids: ['hook-016'],
    why: 'A notice is sent only when an end is durably on the record: not for an absent or damaged record.',
    adjust: (expect) => void expect.set('notifier', []),
  },
  {
    ids: ['notify-103', 'notify-115', 'notify-117'],
    why: STABLE_REASON,
    adjust: (expect) => tellOfDelivery(expect, reasonedFailure(), 'failed'),
  },
  {
    ids: ['notify-111', 'notify-113', 'notify-114', 'notify-120'],
    why: `${STABLE_REASON} Numbers and lone surrogates in a text keep ours from nothing.`,
    adjust: (expect) => {
      const { delivery, state, notices } = failedOrDelivered();
      tellOfDelivery(expect, delivery, state);
      expect.set('notifier', notices);
    },
  },
  {
    ids: ['hook-011'],
    why: STABLE_REASON,
    adjust: (expect) => {
      callsOf(expect)[0] = new Map([['exit', new JsonNumber('0')]]);
      tellOfDelivery(expect, reasonedFailure(), 'failed');
      expect.set('console_note', 'notice').set('job_dir_after', ['console.log', 'job.json', 'job.lock']);
    },
  },
  {
    ids: ['notify-121', 'notify-122', 'hook-012'],
    why: `${STABLE_REASON} Output that is not UTF-8 changes nothing.`,
    adjust: (expect, { id }) => {
      if (id === 'hook-012') callsOf(expect)[0] = new Map([['exit', new JsonNumber('0')]]);
      if (id === 'notify-122') tellOfDelivery(expect, ended('1'), 'failed');
      else tellOfDelivery(expect, ended('0'), 'delivered');
    },
  },
  {
    ids: ({ id, expect }) => id.startsWith('submit-') && expect.has('modes'),
    why: 'Files we create are 0600.',
    adjust: (expect) => {
      const modes = objectOf(expect.get('modes'));
      for (const name of modes.keys()) modes.set(name, '0o600');
    },
  },
  {
    ids: ['submit-010', 'submit-012'],
    why: 'A missing working directory or program is refused before anything is on disk (submit-010, 012 and their kin leave records).',
    adjust: refusedBeforeAll,
  },
  {
    ids: ['submit-015', 'submit-023'],
    why: `${RAISES} What cannot be asked for is refused.`,
    adjust: refusedBeforeAll,
  },
  {
    ids: ['submit-014'],
    why: `${RAISES} Additive fields of ours may stand beside the recorded ones: a spawn failure owes no notice.`,
    adjust: (expect) => {
      expect.set('handle', new ErrorEnvelope('unavailable'));
      const untold = new Map([
        ['attempted', false],
        ['owed', false],
      ]);
      objectOf(expect.get('record')).set('notify_delivery', untold);
    },
  },
];

function refusedBeforeAll(expect: ExpectedObject): void {
  expect.clear();
  expect.set('handle', new ErrorEnvelope('invalid_input')).set('job_dirs', new JsonNumber('0'));
}

/** What a notifier's exit leaves in `notify_delivery`. */
function ended(exitCode: string): ExpectedObject {
  const ok = exitCode === '0';
  return new Map<string, Expected>([
    ['attempted', true],
    ['ok', ok],
    ['exit_code', new JsonNumber(exitCode)],
    ['error', null],
    ['failure_class', ok ? null : 'unknown'],
    ['command', '$BIN/notifier'],
  ]);
}

/** The delivery wherever the recording tells of it: statuses, rows and the record. */
function tellOfDelivery(expect: ExpectedObject, delivery: Expected, state: Expected): void {
  for (const answer of callsOf(expect)) {
    if (isExpectedObject(answer) && answer.has('notify_delivery')) answer.set('notify_delivery', delivery);
    for (const row of Array.isArray(answer) ? answer : []) objectOf(row).set('notify_delivery_state', state);
  }
  objectOf(expect.get('record_after')).set('notify_delivery', delivery);
  expect.delete('record_after_text');
}

/** As of a run whose end could not be written: stopped, and not ended. */
function keepOpen(answer: ExpectedObject): ExpectedObject {
  const open: Record<string, Expected> = {
    status: 'exited',
    terminal: false,
    outcome: null,
    reason_code: null,
    possibly_orphaned: true,
    terminal_source: null,
    terminal_evidence: null,
    finished_at: null,
    finished_at_precision: null,
    notify_delivery: null,
  };
  for (const [key, value] of Object.entries(open)) if (answer.has(key)) answer.set(key, value);
  return answer;
}

/** The recorded ends of writers that launch nothing, where nothing is said of a notice. */
function endsWithoutPromise({ expect }: Vector): ExpectedObject[] {
  const records = [expect.get('record_after'), expect.get('record_after_kill')].filter(isExpectedObject);
  return records.filter(
    (record) =>
      ['lifecycle_cache', 'mcp_kill'].includes(String(record.get('terminal_source'))) &&
      !record.has('notify_delivery'),
  );
}

/** A raw record with the end that the model's record got, in the places where a rewrite puts its keys. */
function reapedRaw(vector: Vector, model: ExpectedObject): ExpectedObject {
  const record: ExpectedObject = rawRecord(vector);
  const reaped = objectOf(model.get('record_after'));
  const keys = ['finished_at', 'status', 'outcome', 'reason_code', 'finished_at_precision'];
  for (const key of [...keys, 'terminal_source', 'terminal_evidence', 'notify_delivery'])
    record.set(key, reaped.get(key) ?? null);
  return record;
}

function rawRecord(vector: Vector): ExpectedObject {
  return parseJsonObject(vector.raw ?? '');
}

/** The answer recorded for another vector, said of this vector's run. */
function modelled(model: ExpectedObject, verb: string, vector: Vector): ExpectedObject {
  const answer = new Map(objectOf(model.get(verb)));
  if (answer.has('run_id')) answer.set('run_id', vector.runId);
  return answer;
}

function recordedIn(group: string, id: string): ExpectedObject {
  const vector = loadGroup(group).find((one) => one.id === id);
  if (!vector) throw new Error(`no vector ${id}`);
  return vector.expect;
}

function set(within: Expected | undefined, key: string, values: Record<string, Expected>): void {
  const object = objectOf(objectOf(within).get(key));
  for (const [name, value] of Object.entries(values)) object.set(name, value);
}

function callsOf(expect: ExpectedObject): Expected[] {
  return listOf(expect.get('calls'));
}

function listOf(value: Expected | undefined): Expected[] {
  if (Array.isArray(value)) return value;
  throw new Error('a list was wanted');
}

function objectOf(value: Expected | undefined): ExpectedObject {
  if (isExpectedObject(value)) return value;
  throw new Error('an object was wanted');
}
