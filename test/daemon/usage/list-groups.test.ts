import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listByPs, listGroups } from '../../../daemon/usage/list-groups.ts';
import { startZombie } from '../../support/processes.ts';
import { startHolding } from '../../support/resource-users.ts';

const { signal } = new AbortController();

describe('the groups of all processes', () => {
  const ways: [string, typeof listGroups][] = [['this system', listGroups]];
  if (existsSync('/bin/ps')) ways.push(['ps', listByPs]);

  it.each(ways)('as %s tells them: every live member of a group once, and no zombie', async (_, list) => {
    const [user, zombie] = [await startHolding(0, 4), await startZombie(null)];
    try {
      const { members } = (await list(signal)) ?? { members: new Map<number, number[]>() };
      const group = members.get(user.pid) ?? [];
      expect(group).toContain(user.pid);
      expect(new Set(group).size).toBe(4);
      expect(group).toHaveLength(4);
      expect(members.get(zombie.pid) ?? []).toEqual([]);
    } finally {
      await user.stop();
      await zombie.stop();
    }
  });

  it.each(ways)('as %s tells them: none after an abort', async (_, list) => {
    expect(await list(AbortSignal.abort())).toBeNull();
  });
});
