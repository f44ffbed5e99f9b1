import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { countsOf, endedBy, faultsOf, holdDrill } from './observers-drill.ts';

/** More of them, with the counts printed: `LION_DRILL_RUNS=500 npx vitest run test/drills/observers.test.ts` */
const asked = Number(process.env.LION_DRILL_RUNS ?? 0);
const RUNS = asked > 0 ? asked : 60;
const WITHIN_MS = 120_000 + RUNS * 2_000;

describe('sixteen observers of the same gone runs, half of them Python', () => {
  it(
    'write one end a run, send at most one notice each, and lose no write of each other',
    async () => {
      await inWorld(async (world) => {
        const drill = await holdDrill(world, RUNS);
        if (asked > 0) process.stdout.write(`${countsOf(drill)}\n`);
        expect(faultsOf(drill)).toEqual([]);
        // Otherwise the two sides never met, and nothing was shown.
        const ours = drill.runs.filter((run) => endedBy(run.record()) === null).length;
        expect(ours).toBeGreaterThan(0);
        expect(ours).toBeLessThan(RUNS);
      });
    },
    WITHIN_MS,
  );
});
