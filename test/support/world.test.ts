import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isThere } from './processes.ts';
import { waitUntil } from './wait-until.ts';
import { makeWorld } from './world.ts';

describe('a world', () => {
  it('is gone when it is disposed of, after what was started for it', async () => {
    const world = await makeWorld();
    const ended: string[] = [];
    world.onDispose(() => void ended.push('first'));
    world.onDispose(() => void ended.push(existsSync(world.root) ? 'second' : 'second, too late'));
    expect(await world.dispose()).toEqual([]);
    expect(ended).toEqual(['second', 'first']);
    expect(existsSync(world.root)).toBe(false);
  });

  it('tells of the processes that calls left behind, and ends them', async () => {
    const world = await makeWorld();
    const child = spawn('sleep', ['3600'], { env: world.env, detached: true, stdio: 'ignore' });
    const pid = child.pid ?? 0;
    expect(await world.dispose()).toEqual([{ pid, command: 'sleep 3600' }]);
    await waitUntil('the process to be gone', () => !isThere(pid));
  });
});
