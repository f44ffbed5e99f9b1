import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type OpenJournal, openJournal } from '../../daemon/journal.ts';
import { hostileBits } from '../support/hostile-text.ts';
import { inWorld } from '../support/in-world.ts';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

interface Told {
  readonly journal: OpenJournal;
  readonly said: string[];
  readonly complaints: string[];
}

function open(stateDir: string): Told {
  const said: string[] = [];
  const complaints: string[] = [];
  const journal = openJournal(stateDir, {
    // Long ones are not kept: what grows would be this list.
    say: (line) => line.length < 200 && said.push(line),
    complain: (line) => complaints.push(line),
  });
  return { journal, said, complaints };
}

function liveHeapBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const NOTICE = { event: 'notice', run_id: 'r', state: 'delivered', next: null } as const;

function linesOf(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const wordsOf = (path: string): unknown[] => linesOf(path).map(({ event }) => event);

describe('the log', () => {
  it('has each event on disk before the call returns, in a file and directory for its owner alone', async () => {
    await inWorld(async ({ work }) => {
      const before = process.umask(0);
      const { journal, said } = open(join(work, 'mcp', 'liond'));
      journal({ event: 'attempt', run_id: 'r', delivery_id: 'd-1', attempt: 2 });
      process.umask(before);
      expect(linesOf(join(work, 'mcp/liond/liond.log'))).toMatchObject([
        { level: 30, event: 'attempt', run_id: 'r', delivery_id: 'd-1', attempt: 2 },
      ]);
      const mode = (name: string) => (statSync(join(work, 'mcp', name)).mode & 0o777).toString(8);
      expect([mode('liond'), mode('liond/liond.log')]).toEqual(['700', '600']);
      expect(said).toEqual(['r notice: attempt 2 (d-1)']);
      journal.close();
    });
  });

  it('is added to, not begun anew, by the next start', async () => {
    await inWorld(async ({ work }) => {
      for (let n = 0; n < 2; n++) {
        const { journal } = open(work);
        journal({ event: 'stopped' });
        journal.close();
      }
      expect(wordsOf(join(work, 'liond.log'))).toEqual(['stopped', 'stopped']);
    });
  });

  it('case 78: rotated away by rename, it is made anew: no line lost, none in the wrong file', async () => {
    await inWorld(async ({ work }) => {
      const { journal, complaints } = open(work);
      journal({ event: 'config_reloaded' });
      renameSync(join(work, 'liond.log'), join(work, 'liond.log.old'));
      journal({ event: 'desynced', why: 'overflow' }); // nobody has looked yet
      journal.tick();
      journal(NOTICE);
      expect(wordsOf(join(work, 'liond.log.old'))).toEqual(['config_reloaded', 'desynced']);
      expect(wordsOf(join(work, 'liond.log'))).toEqual(['notice']);
      expect(complaints).toEqual([]);
      journal.close();
    });
  });

  it('removed with its directory, it is made anew', async () => {
    await inWorld(async ({ work }) => {
      const { journal, complaints } = open(join(work, 'state'));
      journal(NOTICE);
      rmSync(join(work, 'state'), { recursive: true });
      journal.tick();
      journal(NOTICE);
      expect([wordsOf(join(work, 'state/liond.log')), complaints]).toEqual([['notice'], []]);
      journal.close();
    });
  });

  it('goes to a second file at 10 MiB, of which one is kept, and loses no line by it', async () => {
    await inWorld(async ({ work }) => {
      const [path, old] = [join(work, 'liond.log'), join(work, 'liond.log.1')];
      writeFileSync(old, 'an older one');
      writeFileSync(path, `${'x'.repeat(10 * 1024 * 1024 - 200)}\n`);
      const { journal, complaints } = open(work);
      journal(NOTICE);
      expect(statSync(path).size).toBeLessThan(10 * 1024 * 1024);
      for (let n = 0; n < 4; n++) journal(NOTICE);
      expect(
        readFileSync(old, 'utf8')
          .split('\n')
          .slice(1)
          .concat(readFileSync(path, 'utf8').split('\n'))
          .filter(Boolean),
      ).toHaveLength(5);
      expect(statSync(old).size).toBeLessThanOrEqual(10 * 1024 * 1024);
      expect(wordsOf(path).length).toBeGreaterThan(0);
      expect(readdirSync(work).sort()).toEqual(['liond.log', 'liond.log.1']);
      expect(complaints).toEqual([]);
      journal.close();
    });
  });

  it('one that was renamed just before it is full is not renamed over', async () => {
    await inWorld(async ({ work }) => {
      const path = join(work, 'liond.log');
      writeFileSync(path, `${'x'.repeat(10 * 1024 * 1024 - 50)}\n`);
      const { journal, complaints } = open(work);
      journal.tick();
      renameSync(path, `${path}.mine`);
      journal(NOTICE);
      journal(NOTICE);
      expect([wordsOf(path), complaints]).toEqual([['notice', 'notice'], []]);
      journal.close();
    });
  });

  it('words from elsewhere cannot steer the terminal, and a fatal one keeps its lines', async () => {
    await inWorld(async ({ work }) => {
      const { journal, said, complaints } = open(work);
      journal({ event: 'config_refused', message: '\u001b[31m\u202e\n' });
      journal({ event: 'fatal', exit_code: 70, message: 'm', stack: 'Error: m\u001b[31m\n    at x' });
      expect(hostileBits(said.join(''))).toEqual([]);
      expect(complaints).toEqual(['Error: m\\x1b[31m\n    at x']);
      expect(linesOf(join(work, 'liond.log')).at(-1)).toMatchObject({
        level: 60,
        event: 'fatal',
        exit_code: 70,
      });
      journal.close();
    });
  });
});

describe('case 78: a log that cannot be written', () => {
  it('case 78: is said once, is a degradation with a cure, and comes back by itself', async () => {
    await inWorld(async ({ work }) => {
      const state = join(work, 'state');
      writeFileSync(state, 'in the way');
      const { journal, said, complaints } = open(state);
      for (let n = 0; n < 3; n++) journal(NOTICE);
      journal.tick();
      expect(complaints).toEqual([
        expect.stringMatching(/^degraded \(log_unwritable\): .*liond\.log cannot be/),
      ]);
      expect(journal.degraded()).toMatchObject({
        code: 'log_unwritable',
        cause: expect.stringContaining(state),
      });
      expect(said).toHaveLength(3);
      rmSync(state);
      journal.tick();
      expect(journal.degraded()).toBeNull();
      expect(wordsOf(join(state, 'liond.log'))).toEqual(['recovered']);
      expect(said.at(-1)).toBe('recovered (log_unwritable)');
      rmSync(state, { recursive: true });
      writeFileSync(state, 'again');
      journal.tick();
      journal(NOTICE);
      expect(complaints).toHaveLength(2);
      journal.close();
    });
  });

  it('is not a matter of the next look alone: the event that gets through says so', async () => {
    await inWorld(async ({ work }) => {
      mkdirSync(join(work, 'liond.log'));
      const { journal } = open(work);
      journal(NOTICE);
      rmSync(join(work, 'liond.log'), { recursive: true });
      journal(NOTICE);
      expect(wordsOf(join(work, 'liond.log'))).toEqual(['notice', 'recovered']);
      journal.close();
    });
  });

  it.skipIf(whyNoMountNamespace() !== null)(
    'case 78: on a full disk grows no memory, and what is written after it is whole lines again',
    async () => {
      await inWorld(async (world) => {
        const disk = await mountSmallDisk(world, 64 * 1024);
        const { journal, complaints } = open(disk);
        writeFileSync(join(disk, 'filler'), Buffer.alloc(24 * 1024));
        // Lines of a length that does not fill pages: the last one is cut.
        const long = { event: 'fault', run_id: null, message: 'x'.repeat(5_000) } as const;
        for (let n = 0; n < 100; n++) journal(long);
        const before = liveHeapBytes();
        for (let n = 0; n < 20_000; n++) journal(long);
        expect(liveHeapBytes() - before).toBeLessThan(20 * 1024 * 1024);
        expect(complaints).toEqual([expect.stringContaining('ENOSPC')]);
        rmSync(join(disk, 'filler'));
        journal.tick();
        journal(NOTICE);
        const lines = readFileSync(join(disk, 'liond.log'), 'utf8').trimEnd().split('\n');
        expect(lines.at(-3)).toMatch(/^\{"level".*x$/);
        expect(lines.slice(-2).map((line) => JSON.parse(line).event)).toEqual(['recovered', 'notice']);
        journal.close();
      });
    },
  );
});
