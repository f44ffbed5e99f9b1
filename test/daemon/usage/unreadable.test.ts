import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { bundleInto } from '../../support/bundle.ts';
import { inWorld } from '../../support/in-world.ts';
import { throughMaskedStat, whyNoMountNamespace } from '../../support/privileges.ts';
import { startSleeper } from '../../support/processes.ts';

const why = whyNoMountNamespace();
const NOBODY = 65534;

describe.skipIf(why !== null)(
  `a process that may not be read${why === null ? '' : ` (skipped: ${why})`}`,
  () => {
    it('makes the meters of its run null, never zero, and costs no other its sample', async () => {
      await inWorld(async (world) => {
        const [hidden, other] = [await startSleeper(null), await startSleeper(null)];
        world.onDispose(hidden.stop);
        world.onDispose(other.stop);
        const program = await bundleInto(
          world.work,
          new URL('../../support/sample-usage.ts', import.meta.url),
        );
        const runs = [hidden, other].map(({ pid, pgid }, at) => ({ runId: `run-${at}`, pid, pgid }));
        const [command = '', ...args] = [
          ...throughMaskedStat(world.root, hidden.pid, NOBODY),
          process.execPath,
          program,
          JSON.stringify([{ ...runs[0], earlierPeakRssBytes: 4096 }, runs[1]]),
        ];
        const samples = JSON.parse(execFileSync(command, args, { encoding: 'utf8' }));
        expect(samples).toEqual([
          {
            runId: 'run-0',
            sampledMs: expect.any(Number),
            cpuPercent: null,
            rssBytes: null,
            peakRssBytes: 4096,
            processes: 1,
          },
          {
            runId: 'run-1',
            sampledMs: expect.any(Number),
            cpuPercent: 0,
            rssBytes: expect.any(Number),
            peakRssBytes: expect.any(Number),
            processes: 1,
          },
        ]);
      });
    });
  },
);
