import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { LION_MAIN, runLion } from '../support/lion.ts';
import { ask } from '../support/machine.ts';
import { isThere } from '../support/processes.ts';
import { endNow, layAdvisory, layEnded, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { type StartedLion, startLion } from '../support/start-lion.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const RUN = runIdOf(1);

interface Following extends StartedLion {
  readonly stdout: () => string;
  readonly stderr: () => string;
}

function follow(world: World, ...options: string[]): Following {
  const started = startLion(world, ['job', 'output', RUN, '--follow', ...options]);
  let [out, err] = ['', ''];
  started.child.stdout?.on('data', (text: string) => {
    out += text;
  });
  started.child.stderr?.on('data', (text: string) => {
    err += text;
  });
  return { ...started, stdout: () => out, stderr: () => err };
}

function logOf(run: LaidRun): string {
  return join(run.dir, 'console.log');
}

describe.concurrent('lion job output --follow', () => {
  it.each([
    ['completed', 'succeeded', 0],
    ['failed', 'failed', 1],
  ])('shows the log as it grows and ends with a run that %s', async (status, outcome, exitCode) => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      writeFileSync(logOf(run), 'one\n');
      const following = follow(world);
      await waitUntil('the first line', () => following.stdout() === 'one\n');
      appendFileSync(logOf(run), 'two\r\nthr');
      await waitUntil('the second line', () => following.stdout() === 'one\ntwo\nthr');
      appendFileSync(logOf(run), 'ee\n');
      endNow(run, status);
      expect(await following.end).toMatchObject({ code: exitCode, stdout: 'one\ntwo\nthree\n' });
      expect(following.stderr()).toBe(`run ${RUN}; Ctrl-C leaves it running\nrun ${RUN} ended: ${outcome}\n`);
    });
  });

  it('a run that has ended is shown from the end of its log, and nothing is waited for', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'completed');
      writeFileSync(logOf(run), `${'x'.repeat(100)}caf\u00e9 end`);
      const { stdout, stderr, exitCode } = await runLion(
        ['job', 'output', RUN, '--follow', '--tail-chars', '8'],
        world,
      );
      expect([exitCode, stdout]).toEqual([0, 'caf\u00e9 end']);
      expect(stderr).toBe(
        `[earlier output left out; --tail-chars N shows more]\nrun ${RUN} ended: succeeded\n`,
      );
    });
  });

  it('a log that is not there yet is waited for, all of it is shown', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const following = follow(world, '--tail-chars', '3');
      await waitUntil('it to follow', () => following.stderr() !== '');
      writeFileSync(logOf(run), 'from the start\n');
      await waitUntil('the line', () => following.stdout() === 'from the start\n');
      endNow(run, 'completed');
      expect(await following.end).toMatchObject({ code: 0 });
    });
  });

  it('a log that is cut, moved away and replaced is followed, and it is said', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      writeFileSync(logOf(run), 'a long first line\n');
      const following = follow(world);
      await waitUntil('the first line', () => following.stdout().endsWith('first line\n'));
      truncateSync(logOf(run), 0);
      appendFileSync(logOf(run), 'cut\n');
      await waitUntil('what came after the cut', () => following.stdout().endsWith('cut\n'));
      renameSync(logOf(run), `${logOf(run)}.1`);
      appendFileSync(`${logOf(run)}.1`, 'late\n');
      await waitUntil('what came to the moved one', () => following.stdout().endsWith('late\n'));
      writeFileSync(logOf(run), 'new\n');
      await waitUntil('the new one', () => following.stdout().endsWith('new\n'));
      rmSync(`${logOf(run)}.1`);
      endNow(run, 'completed');
      const { code, stdout, stderr } = await following.end;
      expect([code, stdout]).toEqual([0, 'a long first line\ncut\nlate\nnew\n']);
      expect(stderr).toMatch(/its log was cut;.*\nits log was replaced;.*\n/);
    });
  });

  it('Ctrl-C leaves the run alone and says how to come back', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      const following = follow(world);
      await waitUntil('it to follow', () => following.stderr() !== '');
      following.child.kill('SIGINT');
      expect(await following.end).toMatchObject({ code: 130 });
      expect(following.stderr()).toMatch(/left run \S+ running; come back with: lion job wait/);
      expect(isThere(run.process.pid)).toBe(true);
    });
  });

  it('a run whose end nobody can establish is left with status 4', async () => {
    await inWorld(async (world) => {
      const run = layAdvisory(world, RUN);
      writeFileSync(logOf(run), 'all there is\n');
      const { exitCode, stdout, stderr } = await runLion(['job', 'output', RUN, '--follow'], world);
      expect([exitCode, stdout]).toEqual([4, 'all there is\n']);
      expect(stderr).toContain(`more: lion job status ${RUN}`);
    });
  });

  it('ends when its reader has gone', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      writeFileSync(logOf(run), 'one\n');
      const following = follow(world);
      await waitUntil('the first line', () => following.stdout() === 'one\n');
      following.child.stdout?.destroy();
      appendFileSync(logOf(run), 'two\n');
      expect(await following.end).toMatchObject({ code: 74 });
      expect(isThere(run.process.pid)).toBe(true);
    });
  });

  it('ends with 74 where the end that is there already cannot be written', async () => {
    await inWorld(async (world) => {
      const run = await layLive(world, RUN);
      writeFileSync(logOf(run), 'one\n');
      const full = openSync('/dev/full', 'w');
      const child = spawn(process.execPath, [LION_MAIN, 'job', 'output', RUN, '--follow'], {
        env: world.env,
        cwd: world.cwd,
        stdio: ['ignore', full, 'ignore'],
      });
      const [exitCode] = await once(child, 'exit');
      closeSync(full);
      expect(exitCode).toBe(74);
    });
  });

  it('a log cannot steer the terminal, and a last line without an end keeps its own', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'completed');
      writeFileSync(logOf(run), HOSTILE_TEXT);
      const { screen } = await lionOnTerminal(world, ['job', 'output', RUN, '--follow']);
      expect(hostileBits(screen.replaceAll('\t', ''))).toEqual([]);
    });
  });

  it('is refused for programs, with what to call instead', async () => {
    await inWorld(async (world) => {
      const { error } = await ask(world, ['job', 'output', RUN, '--follow']);
      expect(error).toMatchObject({ kind: 'invalid_input' });
      expect(error?.message).toMatch(/lion job wait.*lion job output/);
    });
  });
});
