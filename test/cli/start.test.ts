import { appendFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { installInto, through } from '../support/install.ts';
import { runLion } from '../support/lion.ts';

/** Of the kept code, spread over all of it: one bit is changed in each. */
const PLACES = 24;

interface Parts {
  readonly code: string;
  readonly bundle: string;
}

async function answersAfter(
  spoil: (parts: Parts) => void,
): Promise<{ exitCode: number | null; stderr: string }> {
  return inWorld(async (world) => {
    const installation = installInto(world, 'copy');
    const at = (name: string): string => join(installation.dist, 'cli', name);
    spoil({ code: at('lion.code'), bundle: at('lion.js') });
    const { exitCode, stderr, stdout } = await runLion(['--version'], { ...world, ...through(installation) });
    if (exitCode === 0) expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    return { exitCode, stderr };
  });
}

describe('lion is started by the code its build kept', () => {
  it('which is whole and of this bundle', () =>
    inWorld(async (world) => {
      const { dist } = installInto(world, 'copy');
      const code = readFileSync(join(dist, 'cli', 'lion.code'));
      expect(code.length).toBeGreaterThan(50_000);
    }));

  it.each<[string, (parts: Parts) => void]>([
    ['is missing', ({ code }) => rmSync(code)],
    ['is empty', ({ code }) => truncateSync(code)],
    ['is cut short', ({ code }) => truncateSync(code, 100_000)],
    ['is rubbish', ({ code }) => writeFileSync(code, 'rubbish')],
    ['is of another bundle', ({ bundle }) => appendFileSync(bundle, '\n')],
  ])('and goes without where that %s', async (_, spoil) => {
    expect(await answersAfter(spoil)).toEqual({ exitCode: 0, stderr: '' });
  });

  it('and goes without where a bit of it has changed, which V8 would not notice', () =>
    inWorld(async (world) => {
      const installation = installInto(world, 'copy');
      const file = join(installation.dist, 'cli', 'lion.code');
      const kept = readFileSync(file);
      for (let place = 0; place < PLACES; place++) {
        const code = Buffer.from(kept);
        const at = Math.floor((kept.length * place) / PLACES);
        code[at] = (code[at] ?? 0) ^ (1 << (place % 8));
        writeFileSync(file, code);
        const { exitCode, stderr } = await runLion(['--version'], { ...world, ...through(installation) });
        expect([exitCode, stderr], `byte ${at}`).toEqual([0, '']);
      }
    }));

  it.each<[string, (parts: Parts) => void]>([
    ['missing', ({ bundle }) => rmSync(bundle)],
    ['cut short', ({ bundle }) => truncateSync(bundle, 200_000)],
  ])('and exits 78 where the bundle itself is %s', async (_, spoil) => {
    const { exitCode, stderr } = await answersAfter(spoil);
    expect(exitCode).toBe(78);
    expect(stderr).toMatch(/^lion: this installation cannot run the command: [^\n]+\n$/);
  });
});
