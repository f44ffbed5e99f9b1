import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allocatedBytes } from '../../../shared/run/prune/allocated.ts';
import { inWorld } from '../../support/in-world.ts';
import type { World } from '../../support/world.ts';

const { signal } = new AbortController();

function layTree(world: World): string {
  const dir = join(world.work, 'run');
  mkdirSync(join(dir, 'artifacts', 'deep'), { recursive: true });
  writeFileSync(join(dir, 'console.log'), 'x'.repeat(300_000));
  writeFileSync(join(dir, 'artifacts', 'deep', 'a'), 'y'.repeat(5_000));
  linkSync(join(dir, 'console.log'), join(dir, 'artifacts', 'the same log'));
  writeFileSync(join(dir, 'sparse'), '');
  truncateSync(join(dir, 'sparse'), 1_000_000_000);
  return dir;
}

function du(path: string): number {
  return Number(execFileSync('du', ['-s', '--block-size=1', path], { encoding: 'utf8' }).split('\t')[0]);
}

describe('what a run takes', () => {
  it('is what du says: what is allocated, holes not, a file of two names once', async () => {
    await inWorld(async (world) => {
      const dir = layTree(world);
      const bytes = await allocatedBytes(dir, signal);
      expect(bytes).toBe(du(dir));
      expect(bytes).toBeGreaterThan(300_000);
      expect(bytes).toBeLessThan(500_000);
    });
  });

  it.skipIf(process.platform !== 'linux')('counts what has a name that is no UTF-8', async () => {
    await inWorld(async (world) => {
      const dir = layTree(world);
      writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from([0xe9, 0xff])]), 'z'.repeat(70_000));
      expect(await allocatedBytes(dir, signal)).toBe(du(dir));
    });
  });

  it('is nothing of what its links lead to, and a link to a run is not that run', async () => {
    await inWorld(async (world) => {
      const dir = layTree(world);
      const linked = join(world.work, 'linked');
      mkdirSync(linked);
      const empty = await allocatedBytes(linked, signal);
      symlinkSync(dir, join(linked, 'elsewhere'));
      symlinkSync('/', join(linked, 'root'));
      symlinkSync('loop', join(linked, 'loop'));
      expect(await allocatedBytes(linked, signal)).toBe(empty);
      symlinkSync(dir, join(world.work, 'link'));
      expect(await allocatedBytes(join(world.work, 'link'), signal)).toBe(0);
    });
  });

  it('counts a file that two runs share once where they are counted together', async () => {
    await inWorld(async (world) => {
      const dir = layTree(world);
      const other = join(world.work, 'other');
      mkdirSync(other);
      linkSync(join(dir, 'console.log'), join(other, 'console.log'));
      const counted = new Set<string>();
      const together =
        (await allocatedBytes(dir, signal, counted)) + (await allocatedBytes(other, signal, counted));
      expect(await allocatedBytes(other, signal)).toBeGreaterThan(300_000);
      expect(together).toBeLessThan((await allocatedBytes(dir, signal)) + 100_000);
    });
  });

  it('is nothing where there is nothing', async () => {
    await inWorld(async (world) => {
      expect(await allocatedBytes(join(world.work, 'none'), signal)).toBe(0);
    });
  });
});
