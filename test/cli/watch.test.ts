import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { ask } from '../support/machine.ts';
import {
  endNow,
  layAdvisory,
  layEnded,
  layGone,
  layLive,
  replaceRecord,
  runIdOf,
} from '../support/runs-of-all-sorts.ts';
import { startLion } from '../support/start-lion.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

const [ONE, TWO, THREE] = [runIdOf(1), runIdOf(2), runIdOf(3)];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* /gm;

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';

function startWatch(world: World, ...ids: string[]) {
  const started = startLion(world, ['job', 'watch', ...ids]);
  let out = '';
  started.child.stdout?.on('data', (text: string) => {
    out += text;
  });
  return { ...started, lines: () => out.replace(TIME, '').split('\n').filter(Boolean) };
}

/** A shell line that replaces a record by one that has its end. */
function endLine(file: string): string {
  const program = `import json,os; p="${file}"; r=json.load(open(p)); r.update(status="completed", finished_at="2026-08-01T12:00:00+00:00", terminal_source="cli_terminal_hook"); t=p+".x.tmp"; open(t,"w").write(json.dumps(r)); os.replace(t,p)`;
  return `/usr/bin/python3 -c '${program}'`;
}

describe.concurrent('lion job watch in a pipe', () => {
  it('is a line for each change, ends with the runs, and exits as wait does', async () => {
    await inWorld(async (world) => {
      const [one, two] = [await layLive(world, ONE, { label: 'first' }), await layLive(world, TWO)];
      const watching = startWatch(world, ONE, TWO);
      await waitUntil('both', () => watching.lines().length === 2);
      endNow(one, 'completed');
      await waitUntil('the first end', () => watching.lines().length === 3);
      endNow(two, 'failed');
      expect(await watching.end).toMatchObject({ code: 1, stderr: '' });
      expect(watching.lines().sort()).toEqual(
        [
          `${ONE} running (first)`,
          `${ONE} running -> succeeded`,
          `${TWO} running (a label, caf\u00e9)`,
          `${TWO} running -> failed`,
        ].sort(),
      );
    });
  });

  it.each([
    ['all succeeded', 0, async (world: World) => layEnded(world, ONE, 'completed')],
    ['one is indeterminate', 1, (world: World) => layGone(world, ONE)],
    ['nobody can tell', 4, async (world: World) => layAdvisory(world, ONE)],
  ])('ends at once where nothing can change: %s, status %i', async (_what, exitCode, lay) => {
    await inWorld(async (world) => {
      await lay(world);
      const run = await runLion(['job', 'watch', ONE], world);
      expect([run.exitCode, run.stderr]).toEqual([exitCode, '']);
      expect(run.stdout.split('\n')).toHaveLength(2);
    });
  });

  it('without ids: open runs, those that come, and their ends; not what was over before', async () => {
    await inWorld(async (world) => {
      layEnded(world, ONE, 'failed');
      const two = await layLive(world, TWO);
      const watching = startWatch(world);
      await waitUntil('the open one', () => watching.lines().length === 1);
      const three = await layLive(world, THREE);
      await waitUntil('the new one', () => watching.lines().length === 2);
      endNow(two, 'completed');
      await waitUntil('the end', () => watching.lines().length === 3);
      rmSync(three.dir, { recursive: true });
      await waitUntil('the removal', () => watching.lines().length === 4);
      watching.child.kill('SIGINT');
      expect(await watching.end).toMatchObject({ code: 130 });
      expect(watching.lines()).toEqual([
        expect.stringContaining(`${TWO} running`),
        expect.stringContaining(`${THREE} running`),
        `${TWO} running -> succeeded`,
        `${THREE} is not in the store any more`,
      ]);
    });
  });

  it('what a record says cannot steer what reads it', async () => {
    await inWorld(async (world) => {
      layEnded(world, ONE, `completed${HOSTILE_TEXT}`, { label: HOSTILE_TEXT });
      const { stdout } = await runLion(['job', 'watch', ONE], world);
      expect(hostileBits(stdout)).toEqual([]);
      expect(stdout.split('\n')).toHaveLength(2);
    });
  });

  it('ends when its reader has gone', async () => {
    await inWorld(async (world) => {
      const one = await layLive(world, ONE);
      const watching = startWatch(world);
      await waitUntil('the run', () => watching.lines().length === 1);
      watching.child.stdout?.destroy();
      endNow(one, 'completed');
      expect(await watching.end).toMatchObject({ code: 74 });
    });
  });

  it('an unknown id is said at once, and is refused for programs', async () => {
    await inWorld(async (world) => {
      await layLive(world, ONE);
      const run = await runLion(['job', 'watch', ONE, 'nothing-like-it'], world);
      expect(run.exitCode).toBe(2);
      expect(run.stdout).toMatch(/^nothing-like-it {2}not_found: .*\n$/);
      const { error } = await ask(world, ['job', 'watch', ONE]);
      expect(error).toMatchObject({ kind: 'invalid_input' });
      expect(error?.message).toContain('lion job wait');
    });
  });
});

describe.concurrent('lion job watch on a terminal', () => {
  it('shows the run in place, ends with it, and leaves the terminal as it was', async () => {
    await inWorld(async (world) => {
      const one = await layLive(world, ONE);
      writeFileSync(join(one.dir, 'console.log'), 'step 1\n');
      const { exitCode, screen } = await lionOnTerminal(world, ['job', 'watch', ONE], {
        acts: [
          { after: 'step 1', shell: `echo 'step 2' >> '${one.dir}/console.log'` },
          { after: 'step 2', shell: endLine(one.recordFile) },
        ],
      });
      expect(exitCode).toBe(0);
      expect(screen.startsWith(ENTER)).toBe(true);
      const [view = '', left = ''] = screen.split(LEAVE);
      expect(view.slice(ENTER.length)).not.toContain('\n');
      expect(left).toContain(ONE);
      expect(left).toContain('succeeded');
      expect(left).not.toContain('\u001b[?');
    });
  });

  it.each([
    ['INT', 130],
    ['TERM', 143],
    ['HUP', -1],
  ] as const)('SIG%s leaves the terminal as it was', async (signal, exitCode) => {
    await inWorld(async (world) => {
      await layLive(world, ONE);
      const run = await lionOnTerminal(world, ['job', 'watch'], { acts: [{ after: ONE, signal }] });
      expect(run.exitCode).toBe(exitCode);
      expect(run.screen.split(LEAVE)).toHaveLength(2);
      expect(run.screen.split(LEAVE)[1]).not.toContain('\u001b[?');
    });
  });

  it('Ctrl-Z gives the terminal back, and coming back takes it again', async () => {
    await inWorld(async (world) => {
      await layLive(world, ONE);
      const run = await lionOnTerminal(world, ['job', 'watch'], {
        acts: [
          { after: ONE, signal: 'TSTP' },
          { after: 'l', shell: 'sleep 0.5', signal: 'CONT' },
          { after: ONE, signal: 'INT' },
        ],
      });
      expect(run.exitCode).toBe(130);
      expect(run.screen.split(ENTER)).toHaveLength(3);
      expect(run.screen.split(LEAVE)).toHaveLength(3);
    });
  });

  it('a window that is resized is drawn anew in its size', async () => {
    await inWorld(async (world) => {
      for (const id of [ONE, TWO, THREE]) await layLive(world, id);
      const { screen } = await lionOnTerminal(world, ['job', 'watch'], {
        columns: 120,
        acts: [
          { after: 'LABEL', resize: { columns: 40, rows: 4 } },
          { after: 'and 2 more', signal: 'INT' },
        ],
      });
      expect(screen).toContain('... and 2 more');
    });
  });

  it('what a log and a record say cannot steer it', async () => {
    await inWorld(async (world) => {
      const one = await layLive(world, ONE, { label: HOSTILE_TEXT });
      appendFileSync(join(one.dir, 'console.log'), `${HOSTILE_TEXT}\nlast ${HOSTILE_TEXT.replace('\n', '')}`);
      replaceRecord(one, { kind: HOSTILE_TEXT });
      const { screen } = await lionOnTerminal(world, ['job', 'watch'], {
        columns: 300,
        env: { NO_COLOR: '1' },
        acts: [{ after: ONE, signal: 'INT' }],
      });
      // All that is left once our own moves are taken away.
      const seen = screen.replace(/\u001b\[(\d+;1H|2K|J|\?\d+[hl])/g, '').replaceAll('\r\n', '\n');
      expect(hostileBits(seen)).toEqual([]);
      expect(seen).toContain('\\x1b]0;title');
    });
  });

  it('a terminal that can do nothing gets lines', async () => {
    await inWorld(async (world) => {
      layEnded(world, ONE, 'completed');
      const { screen } = await lionOnTerminal(world, ['job', 'watch', ONE], { env: { TERM: 'dumb' } });
      expect(screen.replace(TIME, '')).toMatch(new RegExp(`^${ONE} succeeded .*\n$`));
    });
  });
});
