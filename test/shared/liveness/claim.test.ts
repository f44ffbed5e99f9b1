import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/json/parse.ts';
import { isObject, type JsonObject } from '../../../shared/json/value.ts';
import { processClaimOf } from '../../../shared/liveness/claim.ts';
import { runPython } from '../../support/python.ts';

/** A record as it stands on disk: what a number is depends on how it is written. */
function record(members: Readonly<Record<string, string>>): JsonObject {
  const text = Object.entries(members).map(([key, value]) => `"${key}": ${value}`);
  const parsed = parseJson(`{${text.join(', ')}}`);
  if (!isObject(parsed)) throw new Error('not an object');
  return parsed;
}

describe('the pid of a record', () => {
  it.each([
    ['2', 2],
    ['4242', 4242],
    ['4194304', 4194304],
    ['2147483647', 2147483647],
  ])('can be asked about: %s', (text, pid) => {
    expect(processClaimOf(record({ pid: text })).pid).toBe(pid);
  });

  const NO_PIDS = [
    ...[
      '1',
      '0',
      '-1',
      '-4242',
      '2147483648',
      '4294967298',
      '9223372036854775808',
      '-1180591620717411303424',
    ],
    ...['true', 'false', 'null', '"4242"', '4242.0', '4242.5', '4.242e3', '1999999999.0', 'NaN', 'Infinity'],
    ...['[4242]', '{"pid": 4242}', '""', '"run-id"'],
  ];
  it.each(NO_PIDS)('is never asked about, since it would be another process: %s', (text) => {
    expect(processClaimOf(record({ pid: text })).pid).toBeNull();
  });

  it('is missing from a record without one', () => {
    const nothing = { pid: null, createTime: 'not_recorded', startTicks: null, origin: null };
    expect(processClaimOf(new Map())).toEqual(nothing);
  });
});

const NUMBERS = [
  '1790000000.25',
  '1790000000',
  '0',
  '-0',
  '-5.5',
  '1.79e9',
  '1E+5',
  '1e-400',
  '1e999',
  '-1e999',
];
const WORDS = ['NaN', 'Infinity', '-Infinity', '[1]', '{}', '{"t": 1}', '[]'];
const TEXTS = [
  ...[
    '1790000000.25',
    '1790000000',
    '+1.5',
    '-1.5',
    '.5',
    '5.',
    '+.5e1',
    '1e5',
    '1E+05',
    '1_000.5',
    '1_0e1_0',
  ],
  ...[' 1.5 ', '\t1.5\n', '\r\n1.5', '\u000b1.5\f', '\u00a01.5\u2003', '\u30001.5', '\u20281.5\u2029'],
  ...[
    '1__0',
    '_1',
    '1_',
    '1_.5',
    '1._5',
    '1e_5',
    '1e5_',
    '1.5f',
    '1,5',
    '1 5',
    '0x10',
    '0b1',
    '0o7',
    '1e',
    'e5',
  ],
  ...[
    '',
    ' ',
    '.',
    '+',
    '-',
    '+-1',
    '--1',
    '1.2.3',
    'soon',
    'True',
    'None',
    'nan',
    '-nan',
    'inf',
    '-Infinity',
  ],
  ...['1e999', '1e-999', '1.5\u0000', '\u001c1.5\u001f', '\u200b1.5'],
];
/** Digits of other scripts, and what counts as a blank in one language and not in the other. */
const EXOTIC = ['\uff11\uff17\uff19\uff10', '\u0661\u0662', '\u00851.5', '\ufeff1.5'];

const READ = `
import json, math, sys
def read(text):
    try:
        number = float(json.loads(text))
    except (TypeError, ValueError, OverflowError):
        return "unusable"
    return repr(number) if math.isfinite(number) else "unusable"
print(json.dumps([read(text) for text in json.load(sys.stdin)]))
`;

async function readOtherwise(texts: readonly string[]): Promise<string[]> {
  const python = JSON.parse(await runPython(READ, { input: JSON.stringify(texts) })) as string[];
  return texts.flatMap((text, at) => {
    const ours = processClaimOf(record({ pid_create_time: text })).createTime;
    const theirs = python[at] === 'unusable' ? 'unusable' : Number(python[at]);
    return ours === theirs ? [] : [`${JSON.stringify(text)}: ${ours}, Python ${theirs}`];
  });
}

describe('the start time of a record', () => {
  it('is read as Python float() reads it, where that is a finite number', async () => {
    expect(await readOtherwise([...NUMBERS, ...WORDS, ...TEXTS.map((text) => JSON.stringify(text))])).toEqual(
      [],
    );
  });

  it('is read as Python float() reads it in other scripts too', async () => {
    expect(await readOtherwise(EXOTIC.map((text) => JSON.stringify(text)))).toEqual([]);
  });

  it.each(['true', 'false'])('is none where a truth value stands for it: %s', (text) => {
    expect(processClaimOf(record({ pid_create_time: text })).createTime).toBe('unusable');
  });

  it('is an integer past the doubles, which no process started at', () => {
    const huge = '9'.repeat(400);
    expect(processClaimOf(record({ pid_create_time: huge })).createTime).toBe('unusable');
  });

  it('is not recorded where it is null or missing', () => {
    expect(processClaimOf(record({ pid_create_time: 'null' })).createTime).toBe('not_recorded');
    expect(processClaimOf(record({ pid: '5' })).createTime).toBe('not_recorded');
  });
});

describe('what a record says of ticks and of its origin', () => {
  it.each([
    ['4711', 4711],
    ['0', 0],
    ['4711.0', null],
    ['true', null],
    ['"4711"', null],
    ['null', null],
  ])('ticks written %s are read as %s', (text, ticks) => {
    expect(processClaimOf(record({ pid_start_ticks: text })).startTicks).toBe(ticks);
  });

  const NOWHERE = { hostId: null, bootId: null, pidNamespace: null };
  it.each([
    ['null', null],
    ['{"host_id": "h", "boot_id": "b", "pid_namespace": 7}', { hostId: 'h', bootId: 'b', pidNamespace: 7 }],
    ['{"boot_id": "b"}', { ...NOWHERE, bootId: 'b' }],
    ['{"host_id": "", "boot_id": 5, "pid_namespace": "7"}', NOWHERE],
    ['{"pid_namespace": true}', NOWHERE],
    ['{}', NOWHERE],
    ['"here"', NOWHERE],
    ['[]', NOWHERE],
    ['false', NOWHERE],
  ])('an origin written %s names what it names and no more', (text, origin) => {
    expect(processClaimOf(record({ origin: text })).origin).toEqual(origin);
  });
});
