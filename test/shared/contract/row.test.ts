import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Row, rowOfValues, valuesOf } from '../../../shared/contract/row.ts';
import { parseJson } from '../../../shared/json/parse.ts';
import { toJson } from '../../../shared/json/value.ts';
import { LINE_STYLE, writeJson } from '../../../shared/json/write.ts';

const LIFECYCLE = '{"state":"completed","qualifier":null,"reason":null,"code":null,"retryable":false}';
/** What a record's own member may be, as its text. */
const VALUES = [
  ...[
    'null',
    'true',
    '"text"',
    '"\\ud83d"',
    '"caf\\u00e9"',
    '"NaN"',
    '[]',
    '["a"]',
    '{}',
    '{"b":1,"2":"x","1":"y"}',
  ],
  ...[
    '12345678901234567890',
    '1.0',
    '1e400',
    'NaN',
    '-Infinity',
    '{"__proto__":"x"}',
    '{"a":1,"a":2}',
    '[[]]',
  ],
];
const COLUMNS = 21;
const LIFECYCLE_AT = 17;

describe('the values of a row', () => {
  it('come back as they were, whichever way they are read', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...VALUES), { minLength: COLUMNS, maxLength: COLUMNS }),
        (values) => {
          values[LIFECYCLE_AT] = LIFECYCLE;
          const text = `[${values.join(',')}]`;
          const read = rowOfValues(text);
          expect(valuesOf(read)).toBe(writeJson(parseJson(text), LINE_STYLE));
          expect(valuesOf(rowOfValues(valuesOf(read)))).toBe(valuesOf(read));
        },
      ),
    );
  });

  it.each(VALUES)('of a record, %s, come back too among plain ones', (value) => {
    const values = Array<string>(COLUMNS).fill('"x"');
    values[LIFECYCLE_AT] = LIFECYCLE;
    values[2] = value;
    const text = `[${values.join(',')}]`;
    const read: Row = rowOfValues(text);
    expect(writeJson(toJson(Object.values(read)), LINE_STYLE)).toBe(writeJson(parseJson(text), LINE_STYLE));
  });

  it('are damage where they are of another form', () => {
    for (const text of ['{}', '[1,2]', '[', '']) {
      expect(() => rowOfValues(text)).toThrow(expect.objectContaining({ code: 'corrupt' }));
    }
  });
});
