import { describe, expect, it } from 'vitest';
import { mergeSettings } from '../../../../shared/notify/settings/merge.ts';
import { parseSettingsYaml } from '../../../../shared/notify/settings/parse-yaml.ts';
import { isSettingMap, type SettingMap } from '../../../../shared/notify/settings/value.ts';
import { shapeOf } from './yaml-shape.ts';

const CASES: readonly (readonly [string, string, string, string])[] = [
  ['keys of either are kept', '{a: x}', '{b: y}', '{a: x, b: y}'],
  ['text replaces text', '{a: x}', '{a: y}', '{a: y}'],
  ['mappings merge all the way down', '{a: {b: {c: x}}}', '{a: {b: {d: y}}}', '{a: {b: {c: x, d: y}}}'],
  ['lists are joined, the lower first', '{a: [x, y]}', '{a: [y, z]}', '{a: [x, y, y, z]}'],
  ['mappings inside lists do not merge', '{a: [{b: x}]}', '{a: [{c: y}]}', '{a: [{b: x}, {c: y}]}'],
  ['an empty list adds nothing', '{a: [x]}', '{a: []}', '{a: [x]}'],
  ['an empty mapping removes nothing', '{a: {b: x}}', '{a: {}}', '{a: {b: x}}'],
  ['null replaces a mapping', '{a: {b: x}}', '{a: }', '{a: }'],
  ['null replaces a list', '{a: [x]}', '{a: ~}', '{a: ~}'],
  ['a mapping replaces null', '{a: ~}', '{a: {b: x}}', '{a: {b: x}}'],
  ['text replaces a mapping', '{a: {b: x}}', '{a: y}', '{a: y}'],
  ['a mapping replaces text', '{a: y}', '{a: {b: x}}', '{a: {b: x}}'],
  ['a list replaces text', '{a: x}', '{a: [y]}', '{a: [y]}'],
  ['false replaces', '{a: true}', '{a: false}', '{a: false}'],
];

function settings(text: string): SettingMap {
  const value = parseSettingsYaml(text);
  if (!isSettingMap(value)) throw new Error(`not a mapping: ${text}`);
  return value;
}

describe('settings laid over settings', () => {
  it.each(CASES)('%s', (_, lower, upper, merged) => {
    expect(shapeOf(mergeSettings(settings(lower), settings(upper)))).toEqual(shapeOf(settings(merged)));
  });

  it('changes neither', () => {
    const [lower, upper] = [settings('{a: {b: [x]}}'), settings('{a: {b: [y], c: z}}')];
    mergeSettings(lower, upper);
    expect(lower).toEqual(settings('{a: {b: [x]}}'));
    expect(upper).toEqual(settings('{a: {b: [y], c: z}}'));
  });
});
