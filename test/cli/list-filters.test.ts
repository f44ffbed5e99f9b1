import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { ask, askData } from '../support/machine.ts';
import { endNow, layAdvisory, layEnded, runIdOf } from '../support/runs-of-all-sorts.ts';
import type { World } from '../support/world.ts';

const idsOf = ({ jobs }: { jobs: { run_id: string }[] }): string[] => jobs.map((job) => job.run_id);
const list = (world: World, ...args: string[]) => askData(world, ['job', 'list', ...args]);

describe('pages of lion job list', () => {
  it('never gap or repeat while runs are added, end and go', () =>
    inWorld(async (world) => {
      for (let n = 1; n <= 9; n++) layEnded(world, runIdOf(2 * n), 'completed');
      const open = layAdvisory(world, runIdOf(7));
      const first = await list(world, '--limit', '3');
      expect([idsOf(first), first.truncated]).toEqual([[18, 16, 14].map(runIdOf), true]);
      layEnded(world, runIdOf(99), 'completed');
      rmSync(`${world.jobs}/${runIdOf(14)}`, { recursive: true });
      rmSync(`${world.jobs}/${runIdOf(12)}`, { recursive: true });
      layEnded(world, runIdOf(9), 'completed');
      endNow(open, 'failed');
      const second = await list(world, '--limit', '4', '--cursor', first.next_cursor);
      expect(idsOf(second)).toEqual([10, 9, 8, 7].map(runIdOf));
      const third = await list(world, '--limit', '3', '--cursor', second.next_cursor);
      expect([idsOf(third), third.truncated, third.next_cursor]).toEqual([
        [6, 4, 2].map(runIdOf),
        false,
        null,
      ]);
    }));

  it('a cursor that was changed, or is of another filter or store, is invalid_input', () =>
    inWorld(async (world) => {
      for (let n = 1; n <= 3; n++) layEnded(world, runIdOf(n), 'completed');
      const { next_cursor: cursor } = await list(world, '--limit', '1', '--kind', 'agent');
      const refused = async (args: string[], where = world): Promise<string | undefined> =>
        (await ask(where, ['job', 'list', ...args])).error?.kind;
      expect(await refused(['--cursor', cursor, '--kind', 'agent'])).toBeUndefined();
      expect(await refused(['--cursor', cursor])).toBe('invalid_input');
      for (const at of [0, 5, cursor.length - 1]) {
        const other = cursor[at] === 'A' ? 'B' : 'A';
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);
        expect(await refused(['--cursor', changed, '--kind', 'agent'])).toBe('invalid_input');
      }
      expect(await refused(['--cursor', '', '--kind', 'agent'])).toBe('invalid_input');
      await inWorld(async (foreign) => {
        layEnded(foreign, runIdOf(1), 'completed');
        expect(await refused(['--cursor', cursor, '--kind', 'agent'], foreign)).toBe('invalid_input');
      });
    }));
});

describe('filters of lion job list', () => {
  it('combine freely, and --count says how many there are of what they name', () =>
    inWorld(async (world) => {
      const old = { submitted_at: '2026-01-01T00:00:00.000000+00:00' };
      layEnded(world, runIdOf(1), 'completed', { label: 'nightly build', tags: ['a'], ...old });
      layEnded(world, runIdOf(2), 'failed', {
        label: 'nightly test',
        tags: ['a', 'b'],
        reason_code: 'timeout',
      });
      layEnded(world, runIdOf(3), 'failed', { label: 'weekly', kind: 'flow' });
      layAdvisory(world, runIdOf(4), { label: 'nightly build', tags: ['b'] });
      const named = async (...args: string[]): Promise<string[]> => idsOf(await list(world, ...args)).sort();
      expect(await named('--outcome', 'failed')).toEqual([2, 3].map(runIdOf));
      expect(await named('--open')).toEqual([runIdOf(4)]);
      expect(await named('--terminal', '--label', 'nightly*')).toEqual([1, 2].map(runIdOf));
      expect(await named('--label', 'nightly')).toEqual([]);
      expect(await named('--tag', 'b', '--terminal')).toEqual([runIdOf(2)]);
      expect(await named('--kind', 'flow')).toEqual([runIdOf(3)]);
      expect(await named('--reason', 'timeout')).toEqual([runIdOf(2)]);
      expect(await named('--since', '2h', '--terminal')).toEqual([2, 3].map(runIdOf));
      expect(await named('--until', '2026-02-01')).toEqual([runIdOf(1)]);
      expect((await list(world, '--count', '--label', 'nightly*')).counts).toEqual({
        ...{ total: 3, open: 1, succeeded: 1, failed: 1, cancelled: 0, indeterminate: 0 },
      });
    }));

  it.each([
    [['--open', '--terminal']],
    [['--outcome', 'great']],
    [['--notify-state', 'sent']],
    [['--since', 'yesterday']],
    [['--count', '--limit', '3']],
  ])('%j is invalid_input', (args) =>
    inWorld(async (world) => {
      expect((await ask(world, ['job', 'list', ...args])).error?.kind).toBe('invalid_input');
    }),
  );
});
