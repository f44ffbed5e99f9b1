import fc from 'fast-check';
import { split as packageSplit } from 'shlex';
import { describe, expect, it } from 'vitest';
import { splitWords } from '../../../../shared/notify/settings/split-words.ts';
import { askPython } from './ask-python.ts';

const PY_SHLEX = `
import shlex
def answer(text):
    try: return shlex.split(text)
    except ValueError: return None
`;

const TABLE: readonly (readonly [string, readonly string[] | null])[] = [
  ['', []],
  [' \t\r\n', []],
  ['a b', ['a', 'b']],
  [' a\t b\n c\r', ['a', 'b', 'c']],
  [`'a b' "c d"`, ['a b', 'c d']],
  [`a'b'"c"d`, ['abcd']],
  [`'' ""`, ['', '']],
  [`a''`, ['a']],
  [`x '' y`, ['x', '', 'y']],
  [`'a\\b'`, ['a\\b']],
  [`'a\\\\b'"c"`, ['a\\\\bc']],
  [`"a\\"b"`, ['a"b']],
  [`"a\\\\b"`, ['a\\b']],
  [`"a\\nb\\$c\\'d"`, [`a\\nb\\$c\\'d`]],
  ['"a\\\nb"', ['a\\\nb']],
  [`a\\ b\\'c\\"d\\\\e`, [`a b'c"d\\e`]],
  ['a\\\nb', ['a\nb']],
  ['a\\nb', ['anb']],
  [`'a\nb'`, ['a\nb']],
  ['# a #b', ['#', 'a', '#b']],
  [`$'a\\nb'`, ['$a\\nb']],
  [`$"a"`, ['$a']],
  ['$ a$', ['$', 'a$']],
  ['é 日本 \u{1f600}', ['é', '日本', '\u{1f600}']],
  ['a\u00a0b\u2003c', ['a\u00a0b\u2003c']],
  ['a\vb\fc\0d', ['a\vb\fc\0d']],
  ['a\\', null],
  [`'a`, null],
  [`"a`, null],
  [`"a\\"`, null],
  [`'a\\''`, null],
  [`it's`, null],
];

const PIECES = [
  ...`ab \t\n\r\\'"$#é\v\0{}`,
  '\\',
  '\\',
  '"',
  "'",
  '""',
  "''",
  '\\"',
  "\\'",
  '$"',
  "$'",
  '\\\n',
  '\u{1f600}',
];
const command = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((each) => each.join(''));

describe('a command is split into words as by Python', () => {
  it.each(TABLE)('%j', (text, words) => expect(splitWords(text)).toEqual(words));

  it('and the table above is what Python itself says', ({ skip }) => {
    const answers = askPython(
      PY_SHLEX,
      TABLE.map(([text]) => text),
    );
    if (answers === null) return skip('no python3');
    expect(answers).toEqual(TABLE.map(([, words]) => words));
  });

  it('whatever the text', ({ skip }) => {
    const texts = fc.sample(command, 2000);
    const answers = askPython(PY_SHLEX, texts);
    if (answers === null) return skip('no python3');
    const differing = texts
      .map((text, index) => ({ text, ours: splitWords(text), theirs: answers[index] }))
      .filter(({ ours, theirs }) => JSON.stringify(ours) !== JSON.stringify(theirs));
    expect(differing).toEqual([]);
  });

  it('and a megabyte of quotes is no trouble', () => {
    expect(splitWords(`"${'\\a'.repeat(500_000)}"`)).toEqual(['\\a'.repeat(500_000)]);
    expect(splitWords(`"${'\\a'.repeat(500_000)}`)).toBeNull();
  });
});

/** Once one of these fails, the package has changed and `requote` may have become needless. */
describe('why the shlex package is not asked alone', () => {
  it.each([
    ['it reads $-quotes as bash does', `$'a\\nb'`],
    ['it drops the dollar of $""', `$"a"`],
    ['it joins lines at a backslash', 'a\\\nb'],
    ['it unescapes what stood before a double-quoted part', `'a\\\\b'"c"`],
  ])('%s', (_, text) => expect(packageSplit(text)).not.toEqual(splitWords(text)));
});
