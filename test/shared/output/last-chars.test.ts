import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastCharsOf } from '../../../shared/output/last-chars.ts';
import { printable, printableBlock } from '../../../shared/printable.ts';

const text = fc.string({ unit: 'binary', maxLength: 40 });

describe('the end of a text', () => {
  it('has so many code points, and says whether there were more', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 45 }), (whole, chars) => {
        const points = [...whole];
        const expected = { text: points.slice(-chars).join(''), cut: points.length > chars };
        expect(lastCharsOf(whole, chars)).toEqual(expected);
      }),
    );
  });

  it('of 30 million characters is there at once', () => {
    const { text, cut } = lastCharsOf(`begin${'\u0001'.repeat(30_000_000)}`, 30_000_000);
    expect([text.length, cut]).toEqual([30_000_000, true]);
  });
});

describe('a block of text that is shown', () => {
  it('is the same however its pieces fall', () => {
    for (const odd of ['\u{1F600}', '\ud83d', '\u001b[31m', '\u202e', 'é']) {
      for (let before = 65_530; before < 65_540; before++) {
        const whole = `${'x'.repeat(before)}${odd}y`;
        expect(printableBlock(whole)).toBe(printable(whole));
      }
    }
  });
});
