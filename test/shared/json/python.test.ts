import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/json/parse.ts';
import { pyEqual, pyFloat, pyTruthy } from '../../../shared/json/python.ts';
import { runPython } from '../../support/python.ts';

const SEED = 20_260_801;

/** Numbers that are close, equal across kinds, or beyond what a double holds. */
const numberText = fc.oneof(
  fc.constantFrom(
    ...['0', '-0', '0.0', '-0.0', '1', '1.0', '1e0', '-1', '10', '1e1', '100', '1E2', '0.1', '0.10', '1e-1'],
    ...[
      '9007199254740992',
      '9007199254740993',
      '9007199254740992.0',
      '9007199254740993.0',
      '1e400',
      '-1e400',
    ],
    ...['1e-400', '12345678901234567890', '12345678901234567890.0', '1e22', '10000000000000000000000'],
    ...['Infinity', '-Infinity', '0.30000000000000004', '0.3'],
  ),
  fc.integer({ min: -3, max: 3 }).map(String),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map((value) => (Object.is(value, -0) ? '-0.0' : String(value))),
);

const scalarText = fc.oneof(
  { weight: 3, arbitrary: numberText },
  { weight: 1, arbitrary: fc.constantFrom('true', 'false', 'null', '""', '"a"', '"0"', '"1"', '"\\u0061"') },
);
const { value: valueText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalarText,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"1"', '"__proto__"'), tie('value')), { maxLength: 3 })
      .map((members) => `{${members.map(([key, item]) => `${key}: ${item}`).join(', ')}}`),
  ),
}));

async function askPython<T>(expression: string, inputs: readonly unknown[]): Promise<T[]> {
  const program = `import json, sys
def answer(x): ${expression}
print(json.dumps([answer(x) for x in json.load(sys.stdin)]))`;
  return JSON.parse(await runPython(program, { input: JSON.stringify(inputs) }));
}

function differing<I, A>(inputs: readonly I[], ours: (input: I) => A, theirs: readonly A[]): unknown[] {
  return inputs
    .map((input, at) => ({ input, ours: ours(input), python: theirs[at] }))
    .filter((each) => each.ours !== each.python)
    .slice(0, 10);
}

describe('equality as the Python writers have it', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['1', '1.0', true],
    ['1', 'true', true],
    ['0', 'false', true],
    ['0.0', 'false', true],
    ['-0', '0.0', true],
    ['true', '"true"', false],
    ['null', 'false', false],
    ['""', 'null', false],
    ['1', '"1"', false],
    ['[1, true]', '[1.0, 1]', true],
    ['[1]', '1', false],
    ['{"a": 1, "b": 2}', '{"b": 2.0, "a": true}', true],
    ['{"a": 1}', '{"a": 1, "b": null}', false],
    ['{"a": null}', '{"b": null}', false],
    ['{}', '[]', false],
    ['9007199254740993', '9007199254740992', false],
    ['NaN', 'NaN', false],
    ['1e400', 'Infinity', true],
  ];
  it.each(cases)('%s and %s: %s', (left, right, equal) => {
    expect(pyEqual(parseJson(left), parseJson(right))).toBe(equal);
    expect(pyEqual(parseJson(right), parseJson(left))).toBe(equal);
  });

  it('python3 says the same of each of those', async () => {
    const python = await askPython<boolean>(
      'return json.loads(x[0]) == json.loads(x[1])',
      cases.map(([left, right]) => [left, right]),
    );
    expect(python).toEqual(cases.map(([, , equal]) => equal));
  });

  it('agrees with python3 on any two values', async () => {
    const near = fc.tuple(valueText, valueText);
    const same = valueText.map((text): [string, string] => [
      text,
      text.replace(/(?<![\w.+"-])1(?![\w."])/g, '1.0'),
    ]);
    const pairs = fc.sample(fc.oneof(near, same, fc.tuple(numberText, numberText)), {
      numRuns: 8_000,
      seed: SEED,
    });
    const python = await askPython<boolean>('return json.loads(x[0]) == json.loads(x[1])', pairs);
    expect(python.filter(Boolean).length).toBeGreaterThan(300);
    expect(differing(pairs, ([a, b]) => pyEqual(parseJson(a), parseJson(b)), python)).toEqual([]);
  });

  it('a NaN inside a list or an object equals the one of the same text, as there', async () => {
    // Python's json gives the same NaN for every NaN, and what is the same is equal inside a container. A notice
    // that holds one could otherwise never be claimed: it would look changed each time it is read.
    const texts = ['[NaN]', '{"a": NaN}', '{"attempted": false, "owed": true, "x": [NaN, 1]}'];
    const python = await askPython<boolean>('return json.loads(x) == json.loads(x)', texts);
    expect(python).toEqual([true, true, true]);
    expect(texts.map((text) => pyEqual(parseJson(text), parseJson(text)))).toEqual(python);
  });

  it('what is not there equals nothing but what is not there', () => {
    expect(pyEqual(undefined, undefined)).toBe(true);
    expect(pyEqual(undefined, null)).toBe(false);
  });
});

describe('truth as Python has it', () => {
  it('agrees with python3 on any value', async () => {
    const texts = fc.sample(valueText, { numRuns: 4_000, seed: SEED }).concat('NaN', '[NaN]');
    const python = await askPython<boolean>('return bool(json.loads(x))', texts);
    expect(differing(texts, (text) => pyTruthy(parseJson(text)), python)).toEqual([]);
    expect(new Set(python).size).toBe(2);
  });

  it('what is not there is false', () => {
    expect(pyTruthy(undefined)).toBe(false);
  });
});

describe('a float as Python reads one', () => {
  const FLOAT = `
  try: value = float(x)
  except (ValueError, OverflowError): return None
  return value if value - value == 0 else None`;

  /** Texts that are nearly numbers. */
  const nearlyNumber = fc.string({
    unit: fc.constantFrom(...'0123456789', '1', '2', '.', '.', 'e', 'E', '+', '-', '_', ' ', '\t', '\n'),
    maxLength: 9,
  });

  it('agrees with python3 on every text that is nearly a number', async () => {
    const fixed = [
      ...[
        '',
        ' ',
        '1',
        ' 1.7e9 ',
        '1_000',
        '1__0',
        '_1',
        '1_',
        '1_.5',
        '1._5',
        '1e1_0',
        '1e_1',
        '.5',
        '5.',
        '.',
      ],
      ...['+1', '-1', '+-1', '1e', '1e5', '1E+5', '0x10', 'nan', 'inf', '-Infinity', '1e400', '1,5', '1 2'],
      ...['00.5', '\n1\t', '1.7e9\u00a0', '\u20031'],
    ];
    const texts = [...fixed, ...fc.sample(nearlyNumber, { numRuns: 8_000, seed: SEED })];
    const python = await askPython<number | null>(FLOAT, texts);
    expect(python.filter((each) => each !== null).length).toBeGreaterThan(500);
    expect(differing(texts, (text) => pyFloat(text), python)).toEqual([]);
  });

  it('takes nothing for a number that is none to python3, whatever blanks or digits stand in it', async () => {
    // A start time misread as a number could make a live process look like another's.
    const odd = [
      '\u001c',
      '\u0085',
      '\u00a0',
      '\u180e',
      '\u200b',
      '\u2028',
      '\u3000',
      '\ufeff',
      '\u0661',
      '\uff11',
    ];
    const texts = odd.flatMap((each) => [`${each}1.5`, `1.5${each}`, `1${each}5`, each]);
    const python = await askPython<number | null>(FLOAT, texts);
    const refused = texts.filter((_, at) => python[at] === null);
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.filter((text) => pyFloat(text) !== null)).toEqual([]);
  });

  it('agrees with python3 on every number of a record, the unbounded ones too', async () => {
    const texts = fc.sample(numberText, { numRuns: 3_000, seed: SEED }).concat('1'.repeat(400));
    const python = await askPython<number | null>(FLOAT.replace('float(x)', 'float(json.loads(x))'), texts);
    expect(differing(texts, (text) => pyFloat(parseJson(text)), python)).toEqual([]);
  });

  it('is null for what is neither a number nor a text', () => {
    for (const text of ['null', 'true', '[]', '{}', '[1]']) expect(pyFloat(parseJson(text))).toBeNull();
    expect(pyFloat(undefined)).toBeNull();
  });
});
