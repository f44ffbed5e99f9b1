import { describe, expect, it } from 'vitest';
import { JsonNumber, parseJson, topLevelTexts } from './json-tree.ts';
import { runPython } from './python.ts';
import { pythonFloat, writePythonJson } from './python-json.ts';

const GOOD = [
  '{"b":1,"a":{"10":1,"9":[],"__proto__":{}},"b":2}',
  ' [1, 1.5, -0, 0.25, 12345678901234567890123, true, false, null] ',
  '"\\u0041\\/\\b\\f\\n\\r\\t\\"\\\\\\u00e9\\ud83d\\ude00 \\ud800 \u007f\u2028é😀"',
  '[NaN, Infinity, -Infinity]',
  '{"":{"":[{}]}}',
];
const BAD = [
  '',
  '{',
  '[1,]',
  '{"a":1,}',
  '[01]',
  '[+1]',
  '[.5]',
  '[1.]',
  '"\n"',
  '"\\x41"',
  '[1] x',
  'nan',
  '{"a" 1}',
];

describe('the JSON reader of the tests', () => {
  it('reads and writes as Python does', async () => {
    const program =
      'import json, sys; print(json.dumps([json.dumps(json.loads(t), indent=2) for t in json.loads(sys.argv[1])]))';
    const python: string[] = JSON.parse(await runPython(program, { args: [JSON.stringify(GOOD)] }));
    expect(GOOD.map((text) => writePythonJson(parseJson(text)).replace('-0', '0'))).toEqual(
      python.map((text) => text.replace('-0', '0')),
    );
  });

  it.each(BAD)('refuses what Python refuses: %s', async (text) => {
    expect(() => parseJson(text)).toThrow();
    await expect(runPython('import json, sys; json.loads(sys.argv[1])', { args: [text] })).rejects.toThrow();
  });

  it('keeps the text of numbers', () => {
    expect(parseJson('[1.0, 1E5, 1e999]')).toEqual(
      ['1.0', '1E5', '1e999'].map((text) => new JsonNumber(text)),
    );
  });

  it('tells the text of each value of the outermost object', () => {
    const texts = topLevelTexts('{ "a" : [ 1,2 ], "b":{"a":3} , "c":"\\u0041" }');
    expect([...texts]).toEqual([
      ['a', '[ 1,2 ]'],
      ['b', '{"a":3}'],
      ['c', '"\\u0041"'],
    ]);
  });

  it('writes doubles as Python writes them', async () => {
    const values = [0, 1790000000, 1790000000.25, 1785585900.07, -0.05, 123456789012.125];
    const python = await runPython('import sys; print([repr(float(a)) for a in sys.argv[1:]])', {
      args: values.map(String),
    });
    expect(values.map(pythonFloat)).toEqual(JSON.parse(python.replaceAll("'", '"')));
  });
});
