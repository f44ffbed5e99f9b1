import { describe, expect, it } from 'vitest';
import { runInPidNamespace } from '../support/in-pid-namespace.ts';
import { whyNoNamespaces } from '../support/namespaces.ts';
import type { Tally, Whose, Window } from '../support/pid-reuse.ts';

const why = whyNoNamespaces();

/** Rounds of the drill through the CLI; LION_DRILL_ROUNDS=1000 for the full one, which prints its counts. */
const asked = process.env.LION_DRILL_ROUNDS;
const ROUNDS = Number(asked ?? 25);
const ROUNDS_A_WINDOW = Math.max(30, Math.round(ROUNDS / 10));
const WITHIN_MS = 90_000 + ROUNDS * 3_000;

/** What a kill answers whose run is replaced in this window of it. */
const IN_ONE_CALL: readonly [Whose, Window, string][] = [
  ['leader', 'within the first look', 'leader_identity_changed'],
  ['leader', 'before the pin', 'leader_identity_changed'],
  ['leader', 'between the pin and the second look', 'leader_identity_changed'],
  ['leader', 'within the second look', 'process_gone'],
  ['leader', 'between the second look and the signal', 'process_gone'],
  ['young leader', 'before the pin', 'leader_identity_changed'],
  ['group', 'before the pin', 'process_gone'],
  ['group', 'between the pin and the second look', 'leader_identity_changed'],
  ['group', 'between the second look and the signal', 'process_gone'],
  ['escapee', 'before the pin', 'signalled'],
  ['escapee', 'between the pin and the second look', 'signalled'],
  ['escapee', 'between the second look and the signal', 'signalled'],
];

const WORDS: Readonly<Record<Whose, string>> = {
  leader: 'the number of its leader',
  'young leader': 'the number of its leader, which started 0.03 s before',
  group: 'the number of its group, whose leader is long gone',
  escapee: 'the number of a process of it that left the group',
};

async function drill(rounds: number, ...mode: ['cli'] | [Whose, Window]): Promise<Tally> {
  const began = performance.now();
  const tally: Tally = JSON.parse(await runInPidNamespace('pid-reuse-drill.ts', [String(rounds), ...mode]));
  if (asked !== undefined) {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`pid reuse, ${mode.join(', ')}: ${JSON.stringify(tally)} in ${seconds} s\n`);
  }
  return tally;
}

function unharmed(code: string): Tally {
  const answers = { [code]: ROUNDS_A_WINDOW };
  const harm = { signalledStrangers: [], listedStrangers: 0, changedRecords: 0 };
  return { rounds: ROUNDS_A_WINDOW, missed: 0, answers, ...harm };
}

describe.skipIf(why !== null)(
  `a number of a run that is a stranger's by now${why ? ` (${why})` : ''}`,
  () => {
    it(
      'is signalled by no lion job kill, at whatever moment it was taken over',
      async () => {
        const tally = await drill(ROUNDS, 'cli');
        expect(tally.signalledStrangers).toEqual([]);
        expect(tally.changedRecords).toBe(0);
        expect(tally.rounds - tally.missed).toBeGreaterThan(ROUNDS * 0.8);
        const answers = Object.keys(tally.answers);
        expect(answers).toEqual(expect.arrayContaining(['signalled', 'pid_recycled'])); // after it, and before it
      },
      WITHIN_MS,
    );

    for (const [whose, window, code] of IN_ONE_CALL) {
      it(
        `is not signalled where it is taken over ${window}: ${WORDS[whose]}`,
        async () => expect(await drill(ROUNDS_A_WINDOW, whose, window)).toEqual(unharmed(code)),
        WITHIN_MS,
      );
    }

    it(
      'is neither forced to end nor listed as left where it is taken over after the signal',
      async () => {
        const tally = await drill(3, 'leader', 'after the signal');
        expect(tally).toMatchObject({ missed: 0, answers: { signalled: 3 }, signalledStrangers: [] });
        expect(tally.listedStrangers).toBe(0);
      },
      WITHIN_MS,
    );
  },
);
