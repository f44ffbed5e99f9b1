import { expect, it } from 'vitest';
import { differenceOf } from '../../../../shared/notify/environment/difference.ts';

it('names what only one side has and what differs, sorted, and says nothing of what is equal', () => {
  const shell = { SAME: 'x', PATH: '/a', DISPLAY: ':0', AGENT: 'y', GONE: undefined };
  const service = { SAME: 'x', PATH: '/b', INVOCATION_ID: '1', GONE: 'here' };
  expect(differenceOf(shell, service)).toEqual({
    onlyInShell: ['AGENT', 'DISPLAY'],
    onlyInService: ['GONE', 'INVOCATION_ID'],
    different: ['PATH'],
  });
});
