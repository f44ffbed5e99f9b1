import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { substitute } from '../../../shared/notify/substitute.ts';
import { runPython } from '../../support/python.ts';

const FIELDS = { run_id: 'R', status: 'S', label: 'L', target: 'T', sender: 'me' };

describe('fields in a notifier command', () => {
  it.each<[string, readonly string[], Record<string, string>, readonly string[]]>([
    ['each token by itself', ['{run_id}', '--s={status}', '{label}{target}'], FIELDS, ['R', '--s=S', 'LT']],
    ['every time it stands there', ['{label}{label} {label}'], FIELDS, ['LL L']],
    ['a token stays one token', ['{label}'], { label: 'a b; $(c) "d" \n' }, ['a b; $(c) "d" \n']],
    ['an empty field leaves an empty token', ['{target}', 'x{target}y'], { target: '' }, ['', 'xy']],
    [
      'what is no field stays',
      ['{nosuch}', '{ run_id }', '{{run_id}}', '$' + '{HOME}'],
      FIELDS,
      ['{nosuch}', '{ run_id }', '{R}', '$' + '{HOME}'],
    ],
    [
      'a value with the words of replacement patterns',
      ['{label}'],
      { label: "$& $1 $$ $` $'" },
      ["$& $1 $$ $` $'"],
    ],
    ['a field that names a later one gets it', ['{label}'], { label: '{target}', target: 'T' }, ['T']],
    [
      'a field that names an earlier one keeps the name',
      ['{target}'],
      { label: 'L', target: '{label}' },
      ['{label}'],
    ],
    ['no tokens', [], FIELDS, []],
  ])('%s', (_what, template, fields, argv) => {
    expect(substitute(template, fields)).toEqual(argv);
  });

  it('are put in as Python puts them in, one after the other', async () => {
    const word = fc.string({
      unit: fc.constantFrom('{', '}', 'label', 'status', '{label}', '{status}', '$&', 'x'),
      maxLength: 6,
    });
    const cases = fc.sample(fc.tuple(fc.array(word, { maxLength: 3 }), word, word), {
      numRuns: 500,
      seed: 1,
    });
    const program = `
import json, sys
def answer(x):
    out = []
    for token in x[0]:
        for name, value in (("label", x[1]), ("status", x[2])): token = token.replace("{" + name + "}", value)
        out.append(token)
    return out
print(json.dumps([answer(x) for x in json.load(sys.stdin)]))`;
    const python = JSON.parse(await runPython(program, { input: JSON.stringify(cases) }));
    expect(cases.map(([template, label, status]) => substitute(template, { label, status }))).toEqual(python);
  });

  it('leave the template as it is', () => {
    const template = Object.freeze(['{run_id}']);
    substitute(template, FIELDS);
    expect(template).toEqual(['{run_id}']);
  });
});
