import fc from 'fast-check';

/**
 * Texts of JSON as programs and people leave them: keys that JavaScript moves or swallows, numbers a double
 * cannot hold, every escape, lone surrogates, duplicates, blanks in odd places.
 */
export interface ObjectPieces {
  readonly members: readonly MemberPieces[];
  /** From the last value to the end: blanks, the brace, blanks. */
  readonly tail: string;
}

export interface MemberPieces {
  /** All from the end of the value before it: comma, blanks, key, colon. */
  readonly lead: string;
  readonly key: string;
  readonly value: string;
}

export function textOf(object: ObjectPieces): string {
  return object.members.map((member) => member.lead + member.value).join('') + object.tail;
}

const blanks = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', ' ', '\n  ', '\n\t') },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 5 }) },
);

const stringPiece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: fc.constantFrom(...'ab09 _-./{}[]:,#'), maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\b', '\\f', '\\r', '\\t', '\\u0041'),
  },
  { weight: 1, arbitrary: fc.constantFrom('\\ud800', '\\udfff', '\\uD83D\\uDE00', '\\u0000', '\\u2028') },
  { weight: 1, arbitrary: fc.constantFrom('\u007f', '\u00e9', '\u2028', '\ufeff', '\u{1f600}') },
);
const stringText = fc.array(stringPiece, { maxLength: 4 }).map((pieces) => `"${pieces.join('')}"`);

const keyText = fc.oneof(
  fc.constantFrom(
    ...['"10"', '"9"', '"-0"', '"9007199254740993"', '"__proto__"', '"constructor"', '""', '"toString"'],
    ...['"status"', '"finished_at"', '"notify_delivery"', '"\\u0073tatus"', '"NaN"'],
  ),
  stringText,
);

const digits = (max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max });
const whole = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.constantFrom(...'123456789'), digits(30)).map(([a, b]) => a + b),
);
const numberText = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '-0.0', '1E5', '1e999', '-1e-999', '1.50', '9007199254740993'),
  fc.constantFrom('NaN', 'Infinity', '-Infinity'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      whole,
      fc.option(digits(20), { nil: null }),
      fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), digits(3)), { nil: null }),
    )
    .map(
      ([sign, int, frac, exp]) =>
        sign + int + (frac === null ? '' : `.${frac}`) + (exp === null ? '' : exp.join('')),
    ),
);

const scalarText = fc.oneof(fc.constantFrom('null', 'true', 'false'), numberText, stringText);

function objectOf(value: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<ObjectPieces> {
  const member = fc.record({
    before: blanks,
    key: keyText,
    beforeColon: fc.oneof({ weight: 5, arbitrary: fc.constant('') }, { weight: 1, arbitrary: blanks }),
    afterColon: blanks,
    value,
    after: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1, arbitrary: blanks }),
  });
  return fc
    .tuple(fc.array(member, { maxLength }), blanks, blanks, blanks)
    .map(([members, outside, inside, after]) => ({
      members: members.map(({ before, key, beforeColon, afterColon, value: text }, index) => ({
        lead: `${index === 0 ? `${outside}{` : `${members[index - 1]?.after ?? ''},`}${before}${key}${beforeColon}:${afterColon}`,
        key: JSON.parse(key) as string,
        value: text,
      })),
      tail: `${members.length === 0 ? `${outside}{` : (members.at(-1)?.after ?? '')}${inside}}${after}`,
    }));
}

const nested = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 5, arbitrary: scalarText },
    {
      weight: 1,
      arbitrary: fc
        .array(fc.tuple(blanks, tie('value'), blanks), { maxLength: 3 })
        .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    },
    { weight: 1, arbitrary: objectOf(tie('value'), 3).map((object) => textOf(object).trim()) },
  ),
}));

/** Any JSON value's text, as Python reads JSON. */
export const valueText: fc.Arbitrary<string> = nested.value;

/** An object's text in the pieces that a change of some members must leave alone. */
export const objectPieces: fc.Arbitrary<ObjectPieces> = objectOf(valueText, 6);

export { keyText };

const token = fc.constantFrom(
  ...['"', '\\', '{', '}', '[', ']', ',', ':', '-', '+', '.', '0', '1', 'e', 'E', ' ', '\n', '\t', '\r'],
  ...[
    'NaN',
    'Infinity',
    '-Infinity',
    '-NaN',
    'nan',
    'null',
    'true',
    'None',
    'undefined',
    'tru',
    "'",
    '//',
    '/**/',
  ],
  ...[
    '\\u',
    '\\u12',
    '\\u+123',
    '\\u 123',
    '\\x41',
    '\\ud800',
    '\0',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u00a0',
    '\u0085',
  ],
  ...[
    '\ufeff',
    '\u2028',
    '\u2029',
    '\v',
    '\f',
    '0x10',
    '1_000',
    '01',
    '1.',
    '.5',
    '1e',
    '\u0661',
    '\u00e9',
    '{}',
    '[]',
  ],
);

/** A value's text with a few edits made in it: some are JSON still, most are not. */
export const damagedText: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(valueText, objectPieces.map(textOf)),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.oneof(token, fc.constant(''))), { maxLength: 3 }),
  )
  .map(([text, edits]) =>
    edits.reduce((edited, [where, remove, insert]) => {
      const at = where % (edited.length + 1);
      return edited.slice(0, at) + insert + edited.slice(at + remove);
    }, text),
  );
