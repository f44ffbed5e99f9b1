import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../shared/errno.ts';
import { INDEX_VERSION } from '../../shared/version.ts';
import { inWorld } from '../support/in-world.ts';
import { installInto, through } from '../support/install.ts';
import { askData } from '../support/machine.ts';
import { buildLiond } from '../support/other-version.ts';
import { layEnded, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { ended, submitCommand } from '../support/submitted.ts';
import { spawnSupervisor, startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** An index is complete some seconds after a start, on a machine that has time. */
const WITHIN_MS = 60_000;
const HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();
const indexOf = (world: World): string => join(world.lionagiHome, 'mcp', 'liond', 'index.sqlite3');

describe.concurrent('a store that was last used by another version', () => {
  // Version 1 had no blocks, 2 had other columns; 99 is one that we know nothing of.
  it.each([
    [1, 'DROP TABLE blocks'],
    [2, 'ALTER TABLE runs DROP COLUMN sum'],
    [99, 'ALTER TABLE runs RENAME TO things'],
  ])(
    'index version %i: it is set aside and built anew, and lists are right before, meanwhile and after',
    async (number, change) => {
      await inWorld(async (world) => {
        await layStore(world);
        const first = await startSupervisor(world);
        const right = await rightList(world);
        await first.end('SIGTERM');
        alter(world, `${change}; PRAGMA user_version = ${number}`);

        expect(await askData(world, ['job', 'list'])).toEqual({
          ...right,
          index: { used: false, why: 'other_version' },
        });
        await startSupervisor(world);
        const seen = new Set<string>();
        await waitUntil(
          'the index to be used again',
          async () => {
            const { index, ...rest } = await askData(world, ['job', 'list']);
            seen.add(String(index.why));
            expect({ ...rest, index: null }).toEqual({ ...right, index: null });
            return index.used;
          },
          WITHIN_MS,
        );
        expect(['other_version', 'no_index', 'not_complete', 'null']).toEqual(
          expect.arrayContaining([...seen]),
        );
        expect(versionOf(indexOf(world))).toBe(INDEX_VERSION);
        expect(versionOf(`${indexOf(world)}.set-aside`)).toBe(number);
      });
    },
  );
});

describe.concurrent('case 43: a running supervisor of another version', () => {
  it('keeps its index: lists stay right beside it, the status says restart, and a second one of ours leaves it alone', async () => {
    await inWorld(async (world) => {
      await layStore(world);
      const main = await buildLiond(world, { version: '0.0.9', indexVersion: 2 });
      const old = await startSupervisor(world, { main });
      const right = await rightList(world, 'other_version');
      const status = await askData(world, ['daemon', 'status']);
      expect(status).toMatchObject({
        version: '0.0.9',
        restart_needed: true,
        cli_index_version: INDEX_VERSION,
      });
      expect(status.degraded).toMatchObject([
        {
          code: 'version_differs',
          cause: expect.stringContaining('liond 0.0.9'),
          cure: expect.stringMatching(/^restart/),
        },
      ]);

      const second = spawnSupervisor(world);
      expect((await second.ended()).exitCode).toBe(75);
      expect(second.complained()).toMatch(/another liond looks after .*version 0\.0\.9/);
      expect([old.isRunning(), versionOf(indexOf(world))]).toEqual([true, 2]);

      await old.end('SIGTERM');
      const ours = await startSupervisor(world);
      await waitUntil('our index', async () => (await askData(world, ['job', 'list'])).index.used, WITHIN_MS);
      expect(await askData(world, ['daemon', 'status'])).toMatchObject({
        restart_needed: false,
        degraded: [],
      });
      expect(await askData(world, ['job', 'list'])).toEqual({ ...right, index: { used: true, why: null } });

      // And back again: the older one sets ours aside in turn.
      await ours.end('SIGTERM');
      await startSupervisor(world, { main });
      await waitUntil(
        'its index',
        () => existsSync(indexOf(world)) && versionOf(indexOf(world)) === 2,
        WITHIN_MS,
      );
      expect(await askData(world, ['job', 'list'])).toEqual({
        ...right,
        index: { used: false, why: 'other_version' },
      });
    });
  });
});

describe.concurrent('a run that ends while another version is put in the place of its lion', () => {
  it.each([
    ['its program is not there', 'dist/cli/main.js'],
    ['the lock is not there', 'node_modules/koffi'],
  ])('reports its end as soon as it is whole again: %s', async (_, part) => {
    await inWorld(async (world) => {
      const installed = installInto(world, 'upgraded');
      const run = await submitCommand(
        world,
        ['sh', '-c', 'until [ -e go ]; do sleep 0.05; done; exit 3'],
        [],
        through(installed),
      );
      const path = join(installed.dist, '..', part);
      renameSync(path, `${path}.away`);
      writeFileSync(join(world.cwd, 'go'), '');
      const slept = () => readdirSync('/proc').some((pid) => isSleepOf(pid, run.pid));
      await waitUntil('the run to wait for its lion', slept, WITHIN_MS);
      expect(await askData(world, ['job', 'status', run.runId])).toMatchObject({
        terminal: false,
        liveness_conclusion: 'alive',
      });
      renameSync(`${path}.away`, path);
      expect(await ended(run)).toMatchObject({ exit_code: 3, terminal_source: 'cli_terminal_hook' });
    });
  });
});

function isSleepOf(pid: string, parent: number): boolean {
  if (!/^\d+$/.test(pid)) return false;
  try {
    const [, rest = ''] = /^\d+ \(sleep\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return rest.split(' ')[1] === String(parent);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false;
    throw error;
  }
}

/** Ended runs, one that lives, and a jobs directory that has lain still, so that an index is complete at once. */
async function layStore(world: World): Promise<void> {
  for (const n of [1, 2, 3, 4]) layEnded(world, runIdOf(n), 'completed', { finished_at: HOUR_AGO });
  await layLive(world, runIdOf(5));
  await new Promise((resolve) => setTimeout(resolve, 2_100));
}

/** What a list says, from the records alone, once the index is as it is to be. */
async function rightList(world: World, why: string | null = null) {
  await waitUntil(
    'the index to be there',
    async () => (await askData(world, ['job', 'list'])).index.why === why,
    WITHIN_MS,
  );
  const right = await askData(world, ['job', 'list', '--no-index']);
  expect(right.jobs).toHaveLength(5);
  return right;
}

function alter(world: World, statements: string): void {
  const database = new Database(indexOf(world));
  database.exec(statements);
  database.close();
}

function versionOf(file: string): unknown {
  const database = new Database(file, { readonly: true });
  try {
    return database.pragma('user_version', { simple: true });
  } finally {
    database.close();
  }
}
