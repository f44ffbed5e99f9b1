import { describe, expect, it } from 'vitest';
import { Roster } from '../../daemon/roster.ts';

describe('the roster', () => {
  it('knows a run as open or as ended, never as both', () => {
    const roster = new Roster();
    roster.asOpen('a');
    roster.asOpen('b');
    roster.asEnded('a', 's1');
    expect([roster.size, roster.openCount, [...roster.names()].sort()]).toEqual([2, 1, ['a', 'b']]);
    roster.asOpen('a');
    expect([roster.size, roster.openCount, [...roster.names()].sort()]).toEqual([2, 2, ['a', 'b']]);
  });

  it('keeps what it remembers of an open run as long as it is open', () => {
    const roster = new Roster();
    roster.asOpen('a').seenAlive = true;
    expect(roster.asOpen('a').seenAlive).toBe(true);
    roster.asEnded('a', null);
    expect(roster.openRun('a')).toBeNull();
    expect(roster.asOpen('a').seenAlive).toBe(false);
  });

  it('tells the signature of the last look, for open and ended alike', () => {
    const roster = new Roster();
    expect(roster.signatureOf('a')).toBeNull();
    roster.asOpen('a').signature = 's1';
    expect(roster.signatureOf('a')).toBe('s1');
    roster.asEnded('a', 's2');
    expect(roster.signatureOf('a')).toBe('s2');
  });

  it('an ended run is history until it is said not to be, and an open one again starts anew', () => {
    const roster = new Roster();
    roster.asEnded('a', 's');
    roster.settle('a', false);
    expect(roster.isSettled('a')).toBe(false);
    roster.settle('a', true);
    expect(roster.isSettled('a')).toBe(true);
    roster.settle('a', false);
    roster.asOpen('a');
    roster.asEnded('a', 's');
    expect(roster.isSettled('a')).toBe(true);
  });

  it('forgets a run altogether', () => {
    const roster = new Roster();
    roster.asOpen('a').signature = 's';
    roster.asEnded('b', 's');
    roster.settle('b', false);
    for (const name of ['a', 'b', 'never']) roster.forget(name);
    expect([roster.size, roster.has('a'), roster.has('b'), roster.signatureOf('a')]).toEqual([
      0,
      false,
      false,
      null,
    ]);
    expect(roster.isSettled('b')).toBe(true);
  });
});
