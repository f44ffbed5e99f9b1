import { describe, expect, it } from 'vitest';
import { matching } from './expected.ts';
import { parseJson } from './json-tree.ts';
import { mismatches, rewrittenWithoutNeed } from './record-compare.ts';

function compared(actual: string, expected: string, comparing = {}): number {
  return mismatches(parseJson(actual), parseJson(expected), comparing).length;
}

describe('the comparison of records', () => {
  it.each([
    ['1', '1.0'],
    ['9223372036854775808', '9223372036854775807'],
    ['1e999', 'Infinity'],
    ['0.0', '-0.0'],
    ['true', '1'],
    ['null', '0'],
    ['"a"', '"b"'],
    ['[1]', '[1,2]'],
    ['{"a":1}', '{}'],
    ['{}', '{"a":null}'],
    ['{}', '[]'],
    ['{"a":{"b":[1,{"c":2}]}}', '{"a":{"b":[1,{"c":3}]}}'],
  ])('tells %s from %s', (actual, expected) => {
    expect(compared(actual, expected)).toBeGreaterThan(0);
  });

  it.each([
    ['1E5', '100000.0'],
    ['-0', '0'],
    ['12345678901234567890', '12345678901234567890'],
    ['NaN', 'NaN'],
    ['{"b":1,"a":"\\u00e9"}', '{"a":"é","b":1}'],
  ])('takes %s for %s', (actual, expected) => {
    expect(compared(actual, expected)).toBe(0);
  });

  it('sees another order of keys where order counts', () => {
    expect(compared('{"b":1,"a":1}', '{"a":1,"b":1}', { inOrder: true })).toBe(1);
    expect(compared('{"a":1,"x":2,"b":1}', '{"a":1,"b":1}', { inOrder: true, mayAdd: () => true })).toBe(0);
  });

  it('lets only the named keys be added, and only there', () => {
    const mayAdd = (path: readonly string[], key: string) => path.length === 0 && key === 'ours';
    expect(compared('{"ours":1}', '{}', { mayAdd })).toBe(0);
    expect(compared('{"other":1}', '{}', { mayAdd })).toBe(1);
    expect(compared('{"a":{"ours":1}}', '{"a":{}}', { mayAdd })).toBe(1);
  });

  it('asks a matcher where no value was recorded', () => {
    const even = matching(
      'an even length',
      (actual) => typeof actual === 'string' && actual.length % 2 === 0,
    );
    expect(mismatches('ab', even)).toEqual([]);
    expect(mismatches('abc', even)).toEqual(['/: wanted an even length, found "abc"']);
  });

  it('finds values written anew without need', () => {
    expect(rewrittenWithoutNeed('{"a":1E5,"b":[1,2]}', '{"a":1E5,"b":[1,2],"c":3}')).toEqual([]);
    expect(rewrittenWithoutNeed('{"a":1E5}', '{"a":100000.0}')).toHaveLength(1);
    expect(rewrittenWithoutNeed('{"a":"\\u0041"}', '{"a":"A"}')).toHaveLength(1);
    expect(rewrittenWithoutNeed('{"a":"x"}', '{"a":"y"}')).toEqual([]);
  });
});
