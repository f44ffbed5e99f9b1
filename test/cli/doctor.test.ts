import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../shared/doctor/finding.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layEnded, runIdOf } from '../support/runs-of-all-sorts.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/** Where the text of a finding begins. */
const TEXT_AT = 20;

const stateOf = (world: World): string => join(world.lionagiHome, 'mcp', 'liond');

async function examined(world: World): Promise<Map<string, Finding>> {
  const { findings } = await askData(world, ['doctor']);
  return new Map(findings.map((finding: Finding) => [finding.check, finding]));
}

function layStore(world: World): void {
  mkdirSync(world.jobs, { recursive: true, mode: 0o700 });
  mkdirSync(stateOf(world), { mode: 0o700 });
  layEnded(world, runIdOf(1), 'completed');
}

describe('lion doctor', () => {
  it('in a home with nothing in it finds no fault, and makes nothing', () =>
    inWorld(async (world) => {
      rmSync(world.lionagiHome, { recursive: true });
      const { exitCode, stdout, stderr } = await runLion(['doctor'], world);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/No fault found\.\n$/);
      expect(existsSync(world.lionagiHome)).toBe(false);
    }));

  it('tries the store itself, with Python too, and leaves nothing behind', () =>
    inWorld(async (world) => {
      layStore(world);
      const before = readdirSync(stateOf(world));
      const found = await examined(world);
      const good = ['store', 'permissions', 'filesystem', 'rename', 'file_clock', 'lock', 'boot', 'watches'];
      for (const check of good) expect(found.get(check), check).toMatchObject({ state: 'good', cure: null });
      expect(found.get('lock')?.found).toContain('python3 and lion see each other');
      expect(found.get('supervisor')).toMatchObject({
        state: 'note',
        cure: expect.stringContaining('lion daemon'),
      });
      expect(found.get('index')).toMatchObject({ state: 'note' });
      expect(readdirSync(stateOf(world))).toEqual(before);
    }));

  it('with a supervisor finds it well', () =>
    inWorld(async (world) => {
      layStore(world);
      await startSupervisor(world);
      await waitUntil('it is well', async () => (await examined(world)).get('supervisor')?.state === 'good');
    }));

  it.each<[string, string, (world: World) => void, string]>([
    ['a store that is a file', 'store', (world) => replaceByFile(world.jobs), 'is no directory'],
    [
      'an index that is none',
      'index',
      (world) => writeFileSync(join(stateOf(world), 'index.sqlite3'), 'x'),
      'corrupt',
    ],
    [
      'a liond.yaml that cannot be used',
      'supervisor',
      (world) => writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), 'index: [\n'),
      'config_invalid',
    ],
    [
      'settings that cannot be read',
      'notifier',
      (world) => writeFileSync(join(world.home, '.lionagi', 'settings.yaml'), 'a: [\n'),
      'settings_load_failed',
    ],
    [
      'a notifier that is not there',
      'notifier',
      (world) =>
        writeFileSync(
          join(world.home, '.lionagi', 'settings.yaml'),
          'notify:\n  on_terminal: nosuch-notifier {run_id}\n',
        ),
      'nosuch-notifier',
    ],
  ])('names %s, with a cure, and exits 1', (_, check, spoil, words) =>
    inWorld(async (world) => {
      layStore(world);
      spoil(world);
      const { healthy, findings } = await askData(world, ['doctor']);
      expect(healthy).toBe(false);
      const faults = findings.filter((finding: Finding) => finding.state === 'fault');
      expect(faults).toContainEqual(
        expect.objectContaining({
          check,
          found: expect.stringContaining(words),
          cure: expect.stringMatching(/\w/),
        }),
      );
      expect((await runLion(['doctor'], world)).exitCode).toBe(1);
    }),
  );

  it('says what other users can look into', () =>
    inWorld(async (world) => {
      layStore(world);
      chmodSync(world.jobs, 0o755);
      const cure = `chmod 700 ${world.jobs}`;
      expect((await examined(world)).get('permissions')).toMatchObject({ state: 'note', cure });
    }));

  it('answers within 10 s where Python never does', () =>
    inWorld(async (world) => {
      layStore(world);
      writeFileSync(join(world.bin, 'python3'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
      const env = { ...world.env, PATH: `${world.bin}:${world.env.PATH}` };
      const { envelope, ms } = await runLion(['--machine', 'doctor'], { ...world, env });
      expect(ms).toBeLessThan(10_000);
      expect(envelope?.data.findings).toContainEqual(
        expect.objectContaining({
          check: 'lock',
          state: 'fault',
          found: expect.stringContaining('no answer'),
        }),
      );
    }));

  it('goes without Python where there is none', () =>
    inWorld(async (world) => {
      layStore(world);
      symlinkSync('/bin/sh', join(world.bin, 'sh'));
      const { envelope } = await runLion(['--machine', 'doctor'], {
        ...world,
        env: { ...world.env, PATH: world.bin },
      });
      const lock = envelope?.data.findings.find((finding: Finding) => finding.check === 'lock');
      expect(lock).toMatchObject({ state: 'good', found: expect.stringContaining('no python3') });
    }));

  it.each([40, 80])('fits a terminal of %i columns', (columns) =>
    inWorld(async (world) => {
      layStore(world);
      const { screen, exitCode } = await lionOnTerminal(world, ['doctor'], {
        columns,
        env: { NO_COLOR: '1' },
      });
      expect(exitCode).toBe(0);
      // A word that is longer, a path, keeps its line for itself.
      const wide = screen
        .split('\n')
        .filter((line) => line.length > columns && line.slice(TEXT_AT).includes(' '));
      expect(wide).toEqual([]);
    }),
  );
});

function replaceByFile(path: string): void {
  rmSync(path, { recursive: true });
  writeFileSync(path, '');
}
