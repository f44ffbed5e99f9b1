import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Action, decide, type Seen } from '../../daemon/decide.ts';

const NOW = Date.UTC(2026, 7, 1);
const [SECOND, MINUTE] = [1_000, 60_000];

const ENDED: Seen = {
  present: true,
  state: 'ended',
  won: false,
  step: { kind: 'settled' },
  sending: false,
  undelivered: false,
  settingsChanged: false,
  changedMs: NOW - 60 * MINUTE,
  directoryChangedMs: NOW - 60 * MINUTE,
  racy: false,
  fruitless: 0,
  held: false,
};
const ALIVE: Seen = { ...ENDED, state: 'alive', step: null };
const LOST: Seen = { ...ALIVE, state: 'not_alive', fruitless: 1 };
const EMPTY: Seen = { ...LOST, state: 'no_record', changedMs: null };

const watched = (yes: boolean): Action => ({ do: 'watch', watched: yes });
const again = (inMs: number): Action => ({ do: 'look_again', atMs: NOW + inMs });
const index = (settled: boolean): Action => ({ do: 'index', settled });

describe('what is to be done about a run that', () => {
  it.each<[string, Seen, readonly Action[]]>([
    [
      'is gone: it is forgotten, whatever else was seen',
      { ...ALIVE, present: false, won: true },
      [{ do: 'forget' }],
    ],
    ['is alive', ALIVE, [watched(true), index(false), again(SECOND)]],
    ['was seen neither alive nor ended once', LOST, [watched(false), index(false), again(SECOND)]],
    ['was so often', { ...LOST, fruitless: 5 }, [watched(false), index(false), again(16 * SECOND)]],
    ['was so for hours', { ...LOST, fruitless: 5_000 }, [watched(false), index(false), again(MINUTE)]],
    [
      'waits for what is left of it',
      { ...LOST, held: true, fruitless: 9 },
      [watched(false), index(false), again(SECOND)],
    ],
    ['is a reservation of old', EMPTY, [watched(false), index(false), again(SECOND)]],
    [
      'is a reservation of today',
      { ...EMPTY, directoryChangedMs: NOW - MINUTE },
      [watched(true), index(false), again(SECOND)],
    ],
    [
      'is a reservation 10 minutes old',
      { ...EMPTY, directoryChangedMs: NOW - 10 * MINUTE },
      [watched(false), index(false), again(SECOND)],
    ],
    ['has ended long ago, all said', ENDED, [watched(false), index(true)]],
    ['has ended 15 minutes ago', { ...ENDED, changedMs: NOW - 15 * MINUTE }, [watched(false), index(true)]],
    [
      'has ended a little less ago',
      { ...ENDED, changedMs: NOW - 15 * MINUTE + 1 },
      [watched(false), index(false)],
    ],
    [
      'has ended, and did not get its notice through',
      { ...ENDED, undelivered: true },
      [watched(false), index(false)],
    ],
    [
      'has ended, and its record could not be asked for its age',
      { ...ENDED, changedMs: null },
      [watched(false), index(false)],
    ],
    [
      'was written this moment',
      { ...ENDED, changedMs: NOW - 1, racy: true },
      [watched(false), again(2.5 * SECOND), index(false)],
    ],
    [
      'was ended by this look',
      { ...ENDED, won: true },
      [watched(false), { do: 'send', won: true }, index(true)],
    ],
    [
      'was ended by this look, not yet due',
      { ...ENDED, won: true, step: { kind: 'wait', untilMs: NOW + MINUTE } },
      [watched(false), { do: 'send', won: true }, index(false)],
    ],
    [
      'has a notice that is due',
      { ...ENDED, step: { kind: 'attempt' } },
      [watched(false), { do: 'send', won: false }, index(false)],
    ],
    [
      'has a notice on its way',
      { ...ENDED, sending: true, step: { kind: 'attempt' } },
      [watched(false), index(false)],
    ],
    ['has its own notice on its way', { ...ENDED, sending: true, won: true }, [watched(false), index(true)]],
    [
      'has a notice that is due later',
      { ...ENDED, step: { kind: 'wait', untilMs: NOW + MINUTE } },
      [watched(false), again(MINUTE), index(false)],
    ],
    [
      'is to be taken over',
      { ...ENDED, step: { kind: 'adopt' } },
      [watched(false), { do: 'adopt' }, index(false)],
    ],
    [
      'is to be given up',
      { ...ENDED, step: { kind: 'park', reason: 'expired' } },
      [watched(false), { do: 'park', reason: 'expired' }, index(false)],
    ],
    [
      'sleeps until other settings',
      { ...ENDED, step: { kind: 'asleep', configHash: 'h' } },
      [watched(false), { do: 'await_settings' }, index(false)],
    ],
    [
      'slept, and has them',
      { ...ENDED, settingsChanged: true, step: { kind: 'asleep', configHash: 'h' } },
      [watched(false), { do: 'send', won: false }, index(false)],
    ],
  ])('%s', (_what, seen, actions) => expect(decide(seen, NOW)).toEqual(actions));

  it.each([
    ['an hour', 60 * MINUTE],
    ['ten years', 5_256_000 * MINUTE],
  ])('was written %s from now, as after a clock was set back, is left to the sweeps', (_long, inMs) => {
    // Each of a whole store of such, looked at again every few seconds, would be all there is time for.
    const seen = { ...ENDED, changedMs: NOW + inMs, racy: true };
    expect(decide(seen, NOW)).toEqual([watched(false), index(false)]);
  });
});

const anySeen: fc.Arbitrary<Seen> = fc.record({
  present: fc.boolean(),
  state: fc.constantFrom('ended', 'alive', 'not_alive', 'no_record'),
  won: fc.boolean(),
  step: fc.constantFrom<Seen['step']>(
    null,
    { kind: 'settled' },
    { kind: 'attempt' },
    { kind: 'adopt' },
    { kind: 'wait', untilMs: NOW + SECOND },
    { kind: 'park', reason: 'expired' },
    { kind: 'asleep', configHash: 'h' },
  ),
  sending: fc.boolean(),
  undelivered: fc.boolean(),
  settingsChanged: fc.boolean(),
  changedMs: fc.option(fc.integer({ min: NOW - 1e9, max: NOW + 1e9 })),
  directoryChangedMs: fc.option(fc.integer({ min: NOW - 1e9, max: NOW + 1e9 })),
  racy: fc.boolean(),
  fruitless: fc.integer({ min: 0, max: 1e6 }),
  held: fc.boolean(),
});

function does<K extends Action['do']>(actions: readonly Action[], kind: K): Extract<Action, { do: K }>[] {
  return actions.filter((each): each is Extract<Action, { do: K }> => each.do === kind);
}

describe('whatever was seen', () => {
  it('a run that has not ended is looked at again within a minute, and its notice is nobody\u2019s concern', () => {
    fc.assert(
      fc.property(anySeen, (seen) => {
        fc.pre(seen.present && seen.state !== 'ended');
        const actions = decide(seen, NOW);
        const [next] = does(actions, 'look_again');
        expect(next?.atMs).toBeGreaterThan(NOW);
        expect(next?.atMs).toBeLessThanOrEqual(NOW + MINUTE);
        for (const kind of ['send', 'adopt', 'park'] as const) expect(does(actions, kind)).toEqual([]);
        expect(does(actions, 'index')).toEqual([index(false)]);
      }),
    );
  });

  it('a run that has ended is not watched, and is history only when nothing is to come of its notice', () => {
    fc.assert(
      fc.property(anySeen, (seen) => {
        fc.pre(seen.present && seen.state === 'ended');
        const actions = decide(seen, NOW);
        expect(does(actions, 'watch')).toEqual([watched(false)]);
        const [row] = does(actions, 'index');
        if (row?.settled) {
          expect(seen.step).toEqual({ kind: 'settled' });
          expect(seen.undelivered).toBe(false);
        }
        expect(
          does(actions, 'send').length + does(actions, 'adopt').length + does(actions, 'park').length,
        ).toBeLessThanOrEqual(1);
        if (seen.sending) expect(does(actions, 'send')).toEqual([]);
      }),
    );
  });
});
