import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { lionOnTerminal } from '../support/terminal.ts';

const RUN = runIdOf(1);
const ERASE = '\r\u001b[K';

describe.concurrent('what is waited for', () => {
  it('is said on a terminal after a second, and is gone before the answer', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      const args = ['job', 'wait', RUN, '--max-wait', '2.2'];
      const { screen, exitCode } = await lionOnTerminal(world, args, { errorsToo: true });
      expect(exitCode).toBe(3);
      const drawn = screen.split(ERASE);
      expect(drawn.length).toBeGreaterThan(3);
      expect(drawn[0]).toBe('');
      expect(drawn[1]).toMatch(/^waiting for it to end; .* \(1s\)$/);
      expect(drawn.at(-1)).toBe(`${RUN}  running  still running\n`);
    });
  });

  it('what takes less says nothing', async () => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      const args = ['job', 'wait', RUN, '--max-wait', '0.2'];
      const { screen } = await lionOnTerminal(world, args, { errorsToo: true });
      expect(screen).not.toContain('\u001b');
    });
  });

  it.each([
    ['into a pipe', []],
    ['to a program', ['--machine']],
  ])('is not said %s', async (_where, options) => {
    await inWorld(async (world) => {
      await layLive(world, RUN);
      const run = await runLion([...options, 'job', 'wait', RUN, '--max-wait', '1.6'], world);
      expect(run.stderr).toBe('');
      const onTerminal = ['job', 'wait', RUN, '--max-wait', '1.6', ...options];
      const { screen } = await lionOnTerminal(world, onTerminal, {
        errorsToo: true,
        env: options.length === 0 ? { TERM: 'dumb' } : {},
      });
      expect(screen).not.toContain('waiting');
    });
  });
});
