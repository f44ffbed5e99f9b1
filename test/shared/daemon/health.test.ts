import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeHealth } from '../../../daemon/health-file.ts';
import { type Health, readHealth } from '../../../shared/daemon/health.ts';
import { inWorld } from '../../support/in-world.ts';
import { whyNoMountNamespace } from '../../support/privileges.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';

const HEALTH: Health = {
  pid: 4711,
  version: '0.1.0',
  index_version: 1,
  started_at: '2026-12-01T12:00:00+00:00',
  updated_at: '2026-12-01T12:00:15+00:00',
  jobs_dir: '/home/a/.lionagi/mcp/jobs',
  runs: 3,
  open: 1,
  queue: 0,
  sweeps: { names_at: null, stats_at: null, probed_at: '2026-12-01T12:00:15+00:00' },
  watches: 2,
  notices: { under_way: 1, owed: 0, retrying: 0, parked: 0, unknown: 0 },
  degraded: [{ code: 'watch_limit', cause: 'no more watches', cure: 'raise the limit' }],
};

describe('the health file', () => {
  it('is read as it was written, is for its owner alone, and leaves nothing beside it', async () => {
    await inWorld(async ({ work }) => {
      expect(writeHealth(work, HEALTH)).toBeNull();
      expect(writeHealth(work, { ...HEALTH, runs: 4 })).toBeNull();
      expect(readHealth(work)).toEqual({ ...HEALTH, runs: 4 });
      expect((statSync(join(work, 'health.json')).mode & 0o777).toString(8)).toBe('600');
      expect(readdirSync(work)).toEqual(['health.json']);
    });
  });

  it('a temporary file left by a crash is written over, and where it leads is not touched', async () => {
    await inWorld(async ({ work, root }) => {
      writeFileSync(join(root, 'elsewhere'), 'kept');
      symlinkSync(join(root, 'elsewhere'), join(work, 'health.json.tmp'));
      expect(writeHealth(work, HEALTH)).toBeNull();
      expect(readFileSync(join(root, 'elsewhere'), 'utf8')).toBe('kept');
      expect(readHealth(work)).toEqual(HEALTH);
    });
  });

  it('one that cannot be written is a value that names why', async () => {
    await inWorld(async ({ work }) => {
      expect(writeHealth(join(work, 'none'), HEALTH)).toBe('ENOENT');
      mkdirSync(join(work, 'health.json'));
      expect(writeHealth(work, HEALTH)).toMatch(/^(EISDIR|ENOTEMPTY|EEXIST)$/);
    });
  });

  const whyNot = whyNoMountNamespace();
  it.skipIf(whyNot !== null)('on a full disk the last health stays whole', async () => {
    await inWorld(async (world) => {
      const disk = await mountSmallDisk(world, 64 * 1024);
      expect(writeHealth(disk, HEALTH)).toBeNull();
      try {
        writeFileSync(join(disk, 'filler'), Buffer.alloc(1024 * 1024));
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' });
      }
      expect(writeHealth(disk, { ...HEALTH, runs: 9 })).toBe('ENOSPC');
      expect(readHealth(disk)).toEqual(HEALTH);
    });
  });

  it('there being none is not the same as one that is damaged', async () => {
    await inWorld(async ({ work }) => {
      expect([readHealth(work), readHealth(join(work, 'none', 'none'))]).toEqual([null, null]);
    });
  });

  it.each<[string, string]>([
    ['empty', ''],
    ['cut off', JSON.stringify(HEALTH).slice(0, 100)],
    ['not JSON', '\0\0\0\0'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a member of another type', JSON.stringify({ ...HEALTH, runs: 'three' })],
    ['a member missing', JSON.stringify({ ...HEALTH, sweeps: undefined })],
    ['too large', JSON.stringify({ ...HEALTH, jobs_dir: 'x'.repeat(300_000) })],
  ])('damaged: %s', async (_what, text) => {
    await inWorld(async ({ work }) => {
      writeFileSync(join(work, 'health.json'), text);
      expect(readHealth(work)).toBe('unreadable');
    });
  });

  it('a FIFO or a directory in its place is damage, and does not block', async () => {
    await inWorld(async ({ work }) => {
      execFileSync('mkfifo', [join(work, 'health.json')]);
      expect(readHealth(work)).toBe('unreadable');
      mkdirSync(join(work, 'sub', 'health.json'), { recursive: true });
      expect(readHealth(join(work, 'sub'))).toBe('unreadable');
    });
  });

  it('members of a later version are no damage', async () => {
    await inWorld(async ({ work }) => {
      writeFileSync(join(work, 'health.json'), JSON.stringify({ ...HEALTH, later: [1] }));
      expect(readHealth(work)).toEqual(HEALTH);
      chmodSync(join(work, 'health.json'), 0o600);
    });
  });
});
