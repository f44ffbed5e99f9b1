import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { lionOnTerminal } from '../support/terminal.ts';

describe('lion handshake', () => {
  it('tells a person the build and the contract in one line, the same on a terminal and in a pipe', async () => {
    await inWorld(async (world) => {
      const { stdout, stderr, exitCode } = await runLion(['handshake'], world);
      expect([exitCode, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^lion \d+\.\d+\.\d+, machine contract 1 .*\n$/);
      expect((await lionOnTerminal(world, ['handshake'])).screen).toBe(stdout);
    });
  });

  it('ADR-0106 D2: names the same build as --version', async () => {
    await inWorld(async (world) => {
      const data = await askData(world, ['handshake']);
      const { stdout } = await runLion(['--version'], world);
      expect(`${data.implementation_version}\n`).toBe(stdout);
    });
  });
});

describe('what lion says about itself', () => {
  it('help names every exit status of wait that a script has to tell apart', async () => {
    await inWorld(async (world) => {
      const { stdout, exitCode } = await runLion(['job', 'wait', '--help'], world);
      expect(exitCode).toBe(0);
      for (const status of ['0', '1', '2', '3', '4']) expect(stdout).toMatch(new RegExp(`\\b${status}  \\w`));
    });
  });

  it('a mistyped verb is told with the one that was meant, on stderr', async () => {
    await inWorld(async (world) => {
      const { stdout, stderr, exitCode } = await runLion(['job', 'lisst'], world);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/unknown command 'lisst'[\s\S]*list/);
    });
  });

  it('lion by itself says what is missing, on stderr, with status 2', async () => {
    await inWorld(async (world) => {
      const { stdout, stderr, exitCode } = await runLion([], world);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain('Usage: lion');
    });
  });
});
