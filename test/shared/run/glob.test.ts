import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesGlob } from '../../../shared/run/glob.ts';

describe('a glob', () => {
  it('matches as the expression it stands for', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\u{1F600}'), maxLength: 8 });
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?', '\u{1F600}'), maxLength: 6 });
    fc.assert(
      fc.property(glob, text, (pattern, label) => {
        const escaped = pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
        expect(matchesGlob(pattern, label)).toBe(new RegExp(`^${escaped}$`, 'su').test(label));
      }),
      { numRuns: 2000 },
    );
  });

  it('that would keep an expression busy for ever does not', () => {
    expect(matchesGlob('*a'.repeat(40), `${'a'.repeat(5_000)}b`)).toBe(false);
  });
});
