import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JsonNumber } from '../../../shared/json/value.ts';
import { readConsole } from '../../../shared/output/console.ts';
import { runPython } from '../../support/python.ts';

const SEED = 20_260_801;
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lion-console-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** Pieces of a log: text, every length of UTF-8, halves of it, what is no UTF-8, and all line ends. */
const piece = fc.oneof(
  fc
    .constantFrom(
      'a',
      'line\n',
      '\r',
      '\r\n',
      '\n\r',
      '\u00e9',
      '\u20ac',
      '\u{1f600}',
      '\ufeff',
      '\0',
      '\u001b[31m',
    )
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom(
      [0xff],
      [0x80],
      [0xc3],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
      [0xf5],
    )
    .map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
);
const log = fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.concat(pieces));

const TAIL = `
import io, json, sys
def answer(x):
    text = io.TextIOWrapper(io.BytesIO(bytes.fromhex(x[0])), encoding="utf-8", errors="replace").read()
    return [text[-x[1]:], len(text) > x[1]]
print(json.dumps([answer(x) for x in json.load(sys.stdin)]))`;

describe('the tail of a log', () => {
  it('is what python3 reads with errors replaced and line ends made one, counted in code points', async () => {
    const cases = fc.sample(fc.tuple(log, fc.integer({ min: 1, max: 30 })), { numRuns: 2_000, seed: SEED });
    const python: [string, boolean][] = JSON.parse(
      await runPython(TAIL, { input: JSON.stringify(cases.map(([bytes, n]) => [bytes.toString('hex'), n])) }),
    );
    const file = join(directory, 'log');
    const wrong = cases
      .map(([bytes, n], at) => {
        writeFileSync(file, bytes);
        const { value, truncated } = readConsole(file, n);
        return { bytes: bytes.toString('hex'), n, ours: [value, truncated], python: python[at] };
      })
      .filter(({ ours, python }) => JSON.stringify(ours) !== JSON.stringify(python));
    expect(python.filter(([, truncated]) => truncated).length).toBeGreaterThan(200);
    expect(wrong.slice(0, 5)).toEqual([]);
  });

  it('reads no more of a huge log than the tail takes', () => {
    const file = join(directory, 'huge');
    writeFileSync(file, '');
    truncateSync(file, 8 * 1024 ** 3); // a hole: reading it all would take its 8 GiB of memory
    appendFileSync(file, 'the end');
    expect(readConsole(file, 7)).toEqual({
      available: true,
      value: 'the end',
      reason_code: null,
      detail: null,
      truncated: true,
    });
  });

  it('of an empty log is an established empty text', () => {
    const file = join(directory, 'empty');
    writeFileSync(file, '');
    expect(readConsole(file, 10)).toMatchObject({ available: true, value: '', truncated: false });
  });
});

describe('a log that is none', () => {
  it.each([
    ['not named', undefined],
    ['null', null],
    ['an empty name', ''],
    ['false', false],
    ['0', new JsonNumber('0')],
    ['an empty list', []],
  ])('%s: established that there is none', (_what, named) => {
    expect(readConsole(named, 10)).toEqual({
      available: true,
      value: null,
      reason_code: null,
      detail: null,
      truncated: false,
    });
  });

  it('a file that is not there: established that there is none', () => {
    expect(readConsole(join(directory, 'nowhere'), 10)).toMatchObject({ available: true, value: null });
  });

  it.each([
    ['a number', new JsonNumber('5')],
    ['true', true],
    ['a list', ['x']],
    ['an object', new Map([['path', 'x']])],
  ])('%s: not to be had, and said', (_what, named) => {
    expect(readConsole(named, 10)).toMatchObject({
      available: false,
      value: null,
      reason_code: 'unusable_log',
      truncated: false,
    });
  });

  it('a directory, a FIFO, a loop of links, a name with a NUL: not to be had, said at once', () => {
    const at = (name: string): string => join(directory, name);
    mkdirSync(at('dir'));
    execFileSync('mkfifo', [at('fifo')]);
    symlinkSync('loop', at('loop'));
    for (const path of [at('dir'), at('fifo'), at('loop'), 'a\0b', '/dev/zero', `/${'x'.repeat(5000)}`])
      expect([path, readConsole(path, 10)]).toMatchObject([
        path,
        { available: false, reason_code: 'unreadable' },
      ]);
  });
});
