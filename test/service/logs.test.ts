import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { ask, askData } from '../support/machine.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

function logOf(world: World): string {
  const dir = join(world.lionagiHome, 'mcp', 'liond');
  mkdirSync(dir, { recursive: true });
  return join(dir, 'liond.log');
}

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}\n`).join('');

describe('lion daemon logs', () => {
  it('shows the last lines, also from the file before, and nothing that a terminal would act on', async () => {
    await inWorld(async (world) => {
      const file = logOf(world);
      writeFileSync(`${file}.1`, numbered(1, 100));
      writeFileSync(file, `${numbered(101, 110)}\u001b[2J evil\n`);
      expect(await askData(world, ['daemon', 'logs', '--lines', '3'])).toEqual({
        file,
        lines: ['line 109', 'line 110', '\u001b[2J evil'],
      });
      const { lines } = await askData(world, ['daemon', 'logs']);
      expect([lines.length, lines[0]]).toEqual([50, 'line 62']);
      const { stdout, exitCode } = await runLion(['daemon', 'logs', '--lines', '2'], world);
      expect([stdout, exitCode]).toEqual(['line 110\n\\x1b[2J evil\n', 0]);
    });
  });

  it('of a huge log reads the end, in whole lines', async () => {
    await inWorld(async (world) => {
      const file = logOf(world);
      writeFileSync(file, `${'é'.repeat(5 * 1024 * 1024)}\nlast\n`);
      expect((await askData(world, ['daemon', 'logs', '--lines', '9'])).lines).toEqual(['last']);
    });
  });

  it('says what to do where there is none; a number that is none is refused', async () => {
    await inWorld(async (world) => {
      expect((await ask(world, ['daemon', 'logs'])).error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/there is no log at .*lion daemon install/),
      });
      for (const lines of ['0', '-1', 'x', '10001'])
        expect((await ask(world, ['daemon', 'logs', '--lines', lines])).error?.kind).toBe('invalid_input');
      expect((await ask(world, ['daemon', 'logs', '--follow'])).error?.kind).toBe('invalid_input');
    });
  });

  it('--follow shows what is added, over a rotation, until Ctrl-C', async () => {
    await inWorld(async (world) => {
      const file = logOf(world);
      writeFileSync(file, numbered(1, 5));
      const lion = spawn(process.execPath, [LION_MAIN, 'daemon', 'logs', '--lines', '1', '--follow'], {
        env: world.env,
        cwd: world.cwd,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      lion.stdout.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      const ended = once(lion, 'close');
      world.onDispose(async () => {
        lion.kill('SIGKILL');
        await ended;
      });
      await waitUntil('the line that is there', () => text === 'line 5\n');
      appendFileSync(file, 'line 6\nhal');
      await waitUntil('the next', () => text === 'line 5\nline 6\n');
      appendFileSync(file, 'f\n');
      await waitUntil('the half one', () => text.endsWith('half\n'));
      renameSync(file, `${file}.1`);
      writeFileSync(file, 'anew\n');
      await waitUntil('the new file', () => text.endsWith('half\nanew\n'));
      lion.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
    });
  });
});
