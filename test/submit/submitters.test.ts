import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { countsOf, faultsOf, holdDrill } from './submitters-drill.ts';

/** More of them, with the counts printed: `LION_DRILL_SUBMITS=500 npx vitest run test/submit/submitters.test.ts` */
const asked = Number(process.env.LION_DRILL_SUBMITS ?? 0);
const SUBMITS = asked > 0 ? asked : 60;
const WITHIN_MS = 120_000 + SUBMITS * 3_000;

describe('ADR-0106 D5: eight submitters at once, a third of them killed with -9 on the way', () => {
  it(
    'leave no run without a record, no id twice, and no end out for any command that ran',
    async () => {
      await inWorld(async (world) => {
        const drill = await holdDrill(world, SUBMITS);
        if (asked > 0) process.stdout.write(`${countsOf(drill)}\n`);
        expect(faultsOf(drill), countsOf(drill)).toEqual([]);
        // Otherwise nobody was killed on the way, or nobody lived: nothing was shown.
        const killed = drill.submissions.filter((one) => one.killed && one.handle === null).length;
        expect(killed).toBeGreaterThan(0);
        expect(drill.ran.length).toBeGreaterThan(SUBMITS / 2);
      });
    },
    WITHIN_MS,
  );
});
