import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classifyFailure } from '../../../shared/notify/failure-class.ts';

const CLASSES = [
  'command_not_found',
  'permission_denied',
  'connection_failed',
  'authentication_failed',
  'refused_by_policy',
  'target_unknown',
  'invalid_usage',
  'sender_identity_mismatch',
  'unknown',
];

describe('what a notifier said is sorted into a closed set', () => {
  it.each([
    ['sh: 1: notify: not found', 'command_not_found'],
    ['open /etc/x: Permission denied', 'permission_denied'],
    ['dial tcp: connection refused', 'connection_failed'],
    ['curl: (6) could not resolve host: DNS failure', 'connection_failed'],
    ['HTTP 401', 'authentication_failed'],
    ['HTTP/1.1 403 Forbidden', 'refused_by_policy'],
    ['no such user: bob', 'target_unknown'],
    ['usage: notify [-h] TARGET', 'invalid_usage'],
    ['expect-actor mismatch', 'sender_identity_mismatch'],
    ['INVALID TOKEN', 'authentication_failed'],
    ['', 'unknown'],
    ['it just did not work', 'unknown'],
    // The first phrase of the table wins, not the first of the text.
    ['usage: x\nno such file or directory', 'command_not_found'],
    ['401 and then permission denied', 'permission_denied'],
  ])('%j: %s', (words, failureClass) => {
    expect(classifyFailure(words)).toBe(failureClass);
  });

  it('never answers with anything of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (words) => {
        expect(CLASSES).toContain(classifyFailure(words));
      }),
    );
  });

  it('does not depend on capitals', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'aeiou deni not fund 4013'), maxLength: 40 }),
        (words) => {
          expect(classifyFailure(words.toUpperCase())).toBe(classifyFailure(words));
        },
      ),
    );
  });
});
