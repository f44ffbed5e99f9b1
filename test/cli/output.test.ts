import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layEnded, layGone, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import type { World } from '../support/world.ts';

const RUN = runIdOf(1);

function log(run: LaidRun, text: string | Buffer): void {
  writeFileSync(join(run.dir, 'console.log'), text);
}

function artifact(world: World, path: string): void {
  const file = join(world.lionagiHome, 'runs', RUN, 'artifacts', path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, 'made');
}

describe('lion job output for a person', () => {
  it('is the log as it stands and then the artifacts', async () => {
    await inWorld(async (world) => {
      log(layEnded(world, RUN, 'completed'), 'one\n\tcaf\u00e9 \u{1f600}\nno line end');
      artifact(world, 'b/report.md');
      artifact(world, 'a.txt');
      const { stdout, stderr, exitCode } = await runLion(['job', 'output', RUN], world);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toBe(
        'one\n\tcaf\u00e9 \u{1f600}\nno line end\nartifact: a.txt\nartifact: b/report.md\n',
      );
      expect((await lionOnTerminal(world, ['job', 'output', RUN])).screen).toBe(stdout);
    });
  });

  it('an end of a longer log says that there is more, and how to see it', async () => {
    await inWorld(async (world) => {
      log(layEnded(world, RUN, 'completed'), `${'x'.repeat(100)}the end`);
      const { stdout } = await runLion(['job', 'output', RUN, '--tail-chars', '7'], world);
      expect(stdout).toMatch(/^\[earlier output left out.*--tail-chars.*\]\nthe end\n$/);
    });
  });

  it.each(['a pipe', 'a terminal'])('a log cannot steer %s', async (where) => {
    await inWorld(async (world) => {
      log(layEnded(world, RUN, 'completed'), HOSTILE_TEXT);
      artifact(world, 'evil\u001b[31m\u202ename');
      const seen =
        where === 'a pipe'
          ? (await runLion(['job', 'output', RUN], world)).stdout
          : (await lionOnTerminal(world, ['job', 'output', RUN])).screen;
      expect(hostileBits(seen.replaceAll('\t', ''))).toEqual([]);
      expect(seen).toContain('\\x1b[31mred');
      expect(seen).toContain('artifact: evil\\x1b[31m\\u202ename');
    });
  });

  it('a run without a log and without artifacts prints nothing and succeeds', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      const { stdout, stderr, exitCode } = await runLion(['job', 'output', RUN], world);
      expect([exitCode, stdout, stderr]).toEqual([0, '', '']);
    });
  });

  it('an unknown id is words on stderr and status 2, with nothing on stdout', async () => {
    await inWorld(async (world) => {
      const run = await runLion(['job', 'output', RUN], world);
      expect([run.exitCode, run.stdout]).toEqual([2, '']);
      expect(run.stderr).toContain(RUN);
    });
  });
});

describe('lion job output for a program', () => {
  it('gives the log verbatim, controls and all: nothing is escaped twice or taken out', async () => {
    await inWorld(async (world) => {
      log(layEnded(world, RUN, 'completed'), HOSTILE_TEXT);
      const { console } = await askData(world, ['job', 'output', RUN]);
      expect(console.value).toBe(HOSTILE_TEXT.replaceAll(/\r\n?/g, '\n'));
    });
  });

  it('counts the tail in characters, not in bytes or UTF-16 units', async () => {
    await inWorld(async (world) => {
      log(layEnded(world, RUN, 'completed'), '\u{1f600}'.repeat(30));
      const { console } = await askData(world, ['job', 'output', RUN, '--tail-chars', '7']);
      expect(console).toMatchObject({ value: '\u{1f600}'.repeat(7), truncated: true });
      const all = await askData(world, ['job', 'output', RUN, '--tail-chars', '30']);
      expect(all.console).toMatchObject({ value: '\u{1f600}'.repeat(30), truncated: false });
    });
  });

  it('ADR-0106 D4: carries status, terminal and outcome, and ends a gone run like every other reader', async () => {
    await inWorld(async (world) => {
      await layLive(world, runIdOf(2));
      await layGone(world, RUN);
      expect(await askData(world, ['job', 'output', runIdOf(2)])).toMatchObject({
        status: 'running',
        terminal: false,
        outcome: null,
      });
      const { status, terminal, outcome, reason_code } = await askData(world, ['job', 'output', RUN]);
      const shown = await askData(world, ['job', 'status', RUN]);
      expect({ status, terminal, outcome, reason_code }).toEqual({
        status: shown.status,
        terminal: true,
        outcome: 'indeterminate',
        reason_code: 'process_gone_without_outcome',
      });
    });
  });

  it('ADR-0106 D7: no artifacts directory is an empty list, one that cannot be looked into is unknown', async () => {
    await inWorld(async (world) => {
      layEnded(world, RUN, 'completed');
      const uid = process.getuid?.() === 0 ? 65534 : undefined;
      const told = async (): Promise<unknown> =>
        (await askData(world, ['job', 'output', RUN], uid === undefined ? {} : { uid })).artifacts;
      expect(await told()).toEqual({ available: true, value: [], reason_code: null, detail: null });
      artifact(world, 'kept/a.txt');
      expect(await told()).toMatchObject({ available: true, value: ['kept/a.txt'] });
      const kept = join(world.lionagiHome, 'runs', RUN, 'artifacts', 'kept');
      chmodSync(kept, 0);
      expect(await told()).toMatchObject({ available: false, value: null, reason_code: 'unreadable' });
      const { stdout } = await runLion(['job', 'output', RUN], {
        ...world,
        ...(uid === undefined ? {} : { uid }),
      });
      expect(stdout).toMatch(/artifacts: could not be listed/);
      chmodSync(kept, 0o700);
    });
  });

  it('ADR-0106 D7: console carries truncated, and a log that cannot be read is not an empty one', async () => {
    await inWorld(async (world) => {
      const run = layEnded(world, RUN, 'completed');
      expect((await askData(world, ['job', 'output', RUN])).console).toEqual({
        available: true,
        value: null,
        reason_code: null,
        detail: null,
        truncated: false,
      });
      mkdirSync(join(run.dir, 'console.log'));
      expect((await askData(world, ['job', 'output', RUN])).console).toMatchObject({
        available: false,
        value: null,
        truncated: false,
      });
      expect((await runLion(['job', 'output', RUN], world)).stdout).toMatch(/^log: ./);
    });
  });
});
