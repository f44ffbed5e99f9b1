import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../shared/json/parse.ts';
import { LINE_STYLE, writeJson } from '../../../shared/json/write.ts';
import { owedAfterGrace, withOwed } from '../../../shared/notify/owed.ts';

const NEXT = { owed: true, next_at: '2026-08-01T00:01:00+00:00' };

describe('what a writer of an end owes stands on the record', () => {
  it.each<[string, string | undefined, Parameters<typeof withOwed>[1], string]>([
    ['no notice yet', undefined, { owed: true }, '{"attempted":false,"owed":true}'],
    ['null', 'null', { owed: false }, '{"attempted":false,"owed":false}'],
    [
      'a Python end without our key',
      '{"attempted": false}',
      { owed: true },
      '{"attempted":false,"owed":true}',
    ],
    [
      'its other keys stay, in place',
      '{"x": 1.0, "attempted": false}',
      NEXT,
      '{"x":1.0,"attempted":false,"owed":true,"next_at":"2026-08-01T00:01:00+00:00"}',
    ],
    ['an empty object', '{}', { owed: true }, '{"owed":true}'],
    [
      'skipped for good',
      undefined,
      { owed: false, skipped: 'beyond_horizon' },
      '{"attempted":false,"owed":false,"skipped":"beyond_horizon"}',
    ],
    [
      'an attempt that began stays',
      '{"attempted": true, "ok": null}',
      { owed: true },
      '{"attempted":true,"ok":null}',
    ],
    [
      'an attempt that arrived stays',
      '{"attempted": true, "ok": true}',
      { owed: true },
      '{"attempted":true,"ok":true}',
    ],
    [
      'a recorded fault stays',
      '{"attempted": false, "ok": false, "error": "x"}',
      { owed: true },
      '{"attempted":false,"ok":false,"error":"x"}',
    ],
    [
      'what is owed already stays',
      '{"attempted": false, "owed": false}',
      { owed: true },
      '{"attempted":false,"owed":false}',
    ],
    ['a foreign word stays', '"sent"', { owed: true }, '"sent"'],
    ['a foreign list stays', '[1]', { owed: true }, '[1]'],
  ])('%s', (_what, before, owed, after) => {
    const delivery = withOwed(before === undefined ? undefined : parseJson(before), owed);
    expect(writeJson(delivery, LINE_STYLE)).toBe(after);
  });

  it('the child\u2019s own hook has a minute before anybody else speaks for it', () => {
    const at = Date.UTC(2026, 7, 1);
    expect(owedAfterGrace(at)).toEqual({ owed: true, next_at: '2026-08-01T00:01:00+00:00' });
  });

  it('what was there is not changed in place', () => {
    const before = parseJson('{"attempted": false}');
    withOwed(before, { owed: true });
    expect(writeJson(before, LINE_STYLE)).toBe('{"attempted":false}');
  });
});
