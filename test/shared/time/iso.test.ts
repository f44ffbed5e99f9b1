import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatEpochSeconds, formatIso, parseIso } from '../../../shared/time/iso.ts';
import { PYTHON, runPython } from '../../support/python.ts';

const SEED = 20_260_801;

async function askPython<T>(body: string, inputs: readonly unknown[]): Promise<T[]> {
  const program = `
import json, sys
from datetime import datetime, timedelta, timezone
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
def answer(x):
${body}
print(json.dumps([answer(x) for x in json.load(sys.stdin)]))`;
  return JSON.parse(await runPython(program, { input: JSON.stringify(inputs) }));
}

/** Microseconds since the epoch, or null where \`fromisoformat\` refuses; no zone is taken as UTC. */
const FROM_ISO = `
    try: time = datetime.fromisoformat(x)
    except ValueError: return None
    if time.tzinfo is None: time = time.replace(tzinfo=timezone.utc)
    return (time - EPOCH) // timedelta(microseconds=1)`;

const microsOf = (text: string): number | null => {
  const ms = parseIso(text);
  return ms === null ? null : Math.round(ms * 1000);
};

function differing(texts: readonly string[], python: readonly (number | null)[]): unknown[] {
  return texts
    .map((text, at) => ({ text, ours: microsOf(text), python: python[at] }))
    .filter((each) => each.ours !== each.python)
    .slice(0, 10);
}

const two = (...numbers: number[]): fc.Arbitrary<string> =>
  fc.constantFrom(...numbers).map((number) => String(number).padStart(2, '0'));
const fraction = fc.oneof(
  fc.constant(''),
  fc.tuple(fc.constantFrom('.', ','), fc.stringMatching(/^\d{1,9}$/)).map(([mark, digits]) => mark + digits),
);

/** Times as programs write them, right ones and ones with a field out of range. */
const written = fc
  .record({
    year: fc.constantFrom('1970', '2000', '2024', '2026', '2100'),
    month: two(0, 1, 2, 7, 12, 13),
    day: two(0, 1, 28, 29, 30, 31, 32),
    extended: fc.boolean(),
    mark: fc.constantFrom('T', ' ', 't'),
    hour: two(0, 1, 12, 23, 24),
    minute: two(0, 30, 59, 60),
    second: two(0, 30, 59, 60),
    parts: fc.constantFrom(0, 1, 2, 3, 3, 3),
    fraction,
    zone: fc.constantFrom('', 'Z', 'z', '+00:00', '+02:00', '-05:30', '+0530', '-08', '+14:00', '+05:45:30'),
  })
  .map((time) => {
    const [dash, colon] = time.extended ? ['-', ':'] : ['', ''];
    const date = [time.year, time.month, time.day].join(dash);
    const clock = [time.hour, time.minute, time.second].slice(0, time.parts).join(colon);
    const rest = time.parts === 3 ? time.fraction : '';
    return time.parts === 0 ? date : date + time.mark + clock + rest + time.zone;
  });

/** The same with a character too many, too few or another. */
const spoiled = fc
  .tuple(written, fc.nat(30), fc.constantFrom('', '0', 'x', ':', '-', ' ', '.', '\u00e9', '\n'), fc.nat(1))
  .map(([text, at, piece, cut]) => text.slice(0, at) + piece + text.slice(at + cut));

/** Before 3.11 Python read only what it writes itself; the engine that shares the store asks for 3.11. */
const READS_ISO =
  execFileSync(PYTHON, ['-c', 'import sys; print(sys.version_info >= (3, 11))'], {
    encoding: 'utf8',
  }).trim() === 'True';

describe.skipIf(!READS_ISO)('times as python3 reads them', () => {
  it('agrees with datetime.fromisoformat on what programs write, field by field in and out of range', async () => {
    const texts = [...new Set(fc.sample(written, { numRuns: 6_000, seed: SEED }))];
    const python = await askPython<number | null>(FROM_ISO, texts);
    const [read, refused] = [python.filter((each) => each !== null), python.filter((each) => each === null)];
    expect(Math.min(read.length, refused.length)).toBeGreaterThan(300);
    expect(differing(texts, python)).toEqual([]);
  });

  it.each([
    ['a leap second, month 13, hour 24', ['2026-06-30T23:59:60Z', '2026-13-01', '2026-08-01T24:00:01']],
    ['blanks around it', [' 2026-08-01', '2026-08-01 ', '2026-08-01T', '2026-08-01Z', '']],
    ['digits that are not 0 to 9', ['\u0662\u0660\u0662\u0666-08-01', '2026-08-01T1\u0660:00']],
    ['colons in half of it', ['2026-08-01T10:0000', '2026-08-01T1000:00', '2026-08-01T10:00+01:0000']],
    ['a zone of a day or more', ['2026-08-01T10:00+24:00', '2026-08-01T10:00-99:00', '2026-08-01T10+23:60']],
  ])('refuses with it %s', async (_what, texts) => {
    expect(texts.map(microsOf)).toEqual(texts.map(() => null));
    expect(await askPython<number | null>(FROM_ISO, texts)).toEqual(texts.map(() => null));
  });

  it('takes no spoiled time for one that it refuses', async () => {
    // It takes some that it should not (a mark after a fraction, a time of three digits): those need not be read.
    const texts = [...new Set(fc.sample(spoiled, { numRuns: 6_000, seed: SEED }))];
    const python = await askPython<number | null>(FROM_ISO, texts);
    const refused = texts.filter((_, at) => python[at] === null);
    expect(refused.length).toBeGreaterThan(1_000);
    expect(refused.filter((text) => microsOf(text) !== null).slice(0, 10)).toEqual([]);
  });
});

describe.skipIf(!READS_ISO)('times as python3 writes them', () => {
  const WRITE = '    return datetime.fromtimestamp(x, timezone.utc).isoformat()';

  it('agrees with fromtimestamp and isoformat on epoch seconds, half a microsecond to even', async () => {
    const halves = [0.5, 1.5, 2.5, 3.5].map((half) => 1_790_000_000 + half / 1_000_000);
    const seconds = [
      ...[0, 1, 1_790_000_000.25, 0.000_000_5, 0.000_001_5, 4_102_444_799.999_999_5, 0.999_999_5],
      ...halves,
      ...fc.sample(fc.double({ min: 0, max: 4_102_444_800, noNaN: true }), { numRuns: 3_000, seed: SEED }),
      ...fc
        .sample(fc.integer({ min: 0, max: 4_102_444_800_000_000 }), { numRuns: 2_000, seed: SEED })
        .map((n) => n / 1e6),
    ];
    const python = await askPython<string>(WRITE, seconds);
    const wrong = seconds
      .map((each, at) => ({ each, ours: formatEpochSeconds(each), python: python[at] }))
      .filter(({ ours, python }) => ours !== python);
    expect(wrong.slice(0, 10)).toEqual([]);
  });

  it('agrees with them before 1970 and at the ends of the calendar, and is null beyond', async () => {
    const seconds = [
      -1, -0.25, -86_400.5, -62_135_596_800, -62_135_596_799.5, 253_402_300_799, 253_402_300_799.5,
    ];
    expect(seconds.map(formatEpochSeconds)).toEqual(await askPython<string>(WRITE, seconds));
    for (const beyond of [-62_135_596_801, 253_402_300_800, 1e300])
      expect(formatEpochSeconds(beyond)).toBeNull();
  });

  it('what we write, python3 reads back as the same microsecond, and before 3.11 too', async () => {
    const times = fc.sample(fc.integer({ min: 0, max: 4_102_444_800_000 }), { numRuns: 1_000, seed: SEED });
    const texts = times.map((ms) => formatIso(ms));
    for (const text of texts) expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/);
    expect(await askPython<number>(FROM_ISO, texts)).toEqual(times.map((ms) => ms * 1000));
    expect(texts.map(parseIso)).toEqual(times);
  });

  it('a fraction of a millisecond is kept to the microsecond', () => {
    expect(formatIso(1_785_585_600_000.25)).toBe('2026-08-01T12:00:00.000250+00:00');
    expect(formatIso(1_785_585_600_999.9998)).toBe('2026-08-01T12:00:01+00:00');
    expect(formatIso(0)).toBe('1970-01-01T00:00:00+00:00');
  });
});
