import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { layDocumented, putOnPath } from '../support/documented-world.ts';
import { documents, type Fence, fencesOf } from '../support/documents.ts';
import { inWorld } from '../support/in-world.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { World } from '../support/world.ts';

/**
 * `sh`: every line is run in a scratch home, and has to end with 0. `console`: a transcript, typed anew, which has to
 * look the same but for ids and times. `sh no-run: REASON`: what cannot be run here.
 */
const fences = [...documents()].flatMap(([path, text]) => fencesOf(path, text.replace(/^ +(?=```)/gm, '')));
const run = fences.filter(({ info }) => info === 'sh');
const notRun = fences.filter(({ info }) => info.startsWith('sh '));
const transcripts = fences.filter(({ info }) => info === 'console');
const at = ({ path, line }: Fence): string => `${path}:${line}`;

describe('the commands in the documents', () => {
  it('are run, or say why not', () => {
    expect(fences.map(({ info }) => info.split(' ')[0])).not.toContain('bash');
    expect(run.length).toBeGreaterThan(10);
    expect(notRun.filter(({ info }) => !/^sh no-run: \S.{15,}$/.test(info)).map(at)).toEqual([]);
    // Each is one more promise that nothing holds; another needs a reason as good as theirs.
    expect(notRun.map(({ path }) => path)).toHaveLength(NOT_RUN);
  });

  it('end well, each fence in the order of its lines', async () => {
    await inWorld(async (world) => {
      putOnPath(world);
      await startSupervisor(world);
      const isWell = async (): Promise<boolean> =>
        (await inShell(world, 'lion daemon status')).exitCode === 0;
      await waitUntil('it to be well', isWell);
      for (const fence of run) {
        await layDocumented(world);
        const { exitCode, said } = await inShell(world, `set -e\n${fence.text}`);
        expect(exitCode, `${at(fence)}: ${said}`).toBe(0);
      }
    });
  });

  it.each(transcripts.map((fence) => [at(fence), fence] as const))('transcript %s', async (_, fence) => {
    await inWorld(async (world) => {
      putOnPath(world);
      /** The document's ids and ours, as they come. */
      const ids = new Map<string, string>();
      for (const { command, shown } of stepsOf(fence.text)) {
        const typed = [...ids].reduce(
          (text, [theirs, ours]) => text.replaceAll(theirs.slice(-6), ours.slice(-6)),
          command,
        );
        const { said } = await inShell(world, typed);
        pair(idsIn(shown), idsIn(said), ids);
        expect(plain(said, world), typed).toBe(plain(shown, world));
      }
    });
  });
});

const NOT_RUN = 10;

interface Step {
  readonly command: string;
  readonly shown: string;
}

function stepsOf(text: string): Step[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = '', ...rest] = step.split('\n');
      return { command, shown: rest.join('\n') };
    });
}

const RUN_ID = /\b\d{8}T\d{6}-[0-9a-f]{6}\b/g;

function idsIn(text: string): string[] {
  return text.match(RUN_ID) ?? [];
}

function pair(theirs: readonly string[], ours: readonly string[], ids: Map<string, string>): void {
  theirs.forEach((id, index) => {
    const own = ours[index];
    if (own !== undefined) ids.set(id, own);
  });
}

/** Without what differs from one time to the next. */
function plain(text: string, world: World): string {
  return text
    .replaceAll(world.home, '/home/you')
    .replace(RUN_ID, 'RUN')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, 'TIME')
    .replace(/\bpid \d+/g, 'pid N')
    .replace(/\b\d+[smh]\b/g, 'AGE')
    .replace(/ +/g, ' ')
    .trimEnd();
}

/** What came on stdout and stderr, in the order it came. */
function inShell(world: World, text: string): Promise<{ exitCode: number; said: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      '/bin/sh',
      ['-c', `exec 2>&1\n${text}`],
      { env: world.env, cwd: world.home, timeout: 30_000 },
      (_, said) => resolve({ exitCode: child.exitCode ?? -1, said }),
    );
  });
}
