import { describe, expect, it } from 'vitest';
import { needsShell } from '../../../../shared/notify/settings/shell-features.ts';

describe('a command needs a shell', () => {
  it.each([
    ['a pipe', 'x | y'],
    ['a pipe that touches', 'x|y'],
    ['and', 'x && y'],
    ['or', 'x || y'],
    ['the background', 'x &'],
    ['a semicolon', 'x; y'],
    ['output to a file', 'x > f'],
    ['errors to a file', 'x 2>f'],
    ['input from a file', 'x < f'],
    ['a backtick', 'x `y`'],
    ['a command inside', 'x $(y)'],
    ['a braced variable', `x $\{Y}`],
    ['a variable', 'x $Y'],
    ['a variable in small letters', 'x $y'],
    ['a variable with an underscore', 'x $_'],
    ['a feature after a quoted span', 'x "a" | y'],
    ['a feature between quoted spans', `x 'a'|'b'`],
    ['a feature behind an open quote', `x 'a | b`],
    ['an apostrophe inside double quotes opens nothing', `x "it's" | y's`],
    ['an escaped quote does not open a span', `x \\"a | b`],
    ['a dollar and a name with a quoted span between', 'x $"a"Y'],
    ['an escaped feature, since a backslash hides nothing', 'x \\| y'],
  ])('for %s', (_, command) => expect(needsShell(command)).toBe(true));

  it.each([
    ['plain words', 'x --flag=1 a,b:c'],
    ['features in single quotes', `x 'a|b;c>d&e\`f\` $(g)'`],
    ['features in double quotes', 'x "a|b;c>d&e" "$X"'],
    ['a lone dollar', 'x a$ $'],
    ['a dollar and a digit', 'x $1 $9'],
    ['a dollar and a sign', 'x $? $$ $@'],
    ['a tilde and a star', 'x ~ *.txt ?'],
    ['placeholders', 'x {run_id} {status}'],
    ['a hash and an exclamation mark', 'x #y !z'],
    ['quotes over lines', `x 'a\n|b'`],
    ['nothing', ''],
  ])('not for %s', (_, command) => expect(needsShell(command)).toBe(false));
});
