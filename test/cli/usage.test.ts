import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { installInto, through } from '../support/install.ts';
import { indexFileOf, type LaidSample, layUsage } from '../support/lay-usage.ts';
import { runLion } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { layEnded, layLive, runIdOf } from '../support/runs-of-all-sorts.ts';
import { giveToOrdinaryUser } from '../support/someone-else.ts';
import { lionOnTerminal } from '../support/terminal.ts';
import type { World } from '../support/world.ts';

const MB = 1024 * 1024;
const SGR = /\u001b\[[0-9;]*m/g;
const [OPEN, ENDED] = [runIdOf(2), runIdOf(1)] as [string, string];

/** An open run and one that has ended, with these samples in the index. */
async function lay(world: World, samples: readonly LaidSample[]): Promise<void> {
  await layLive(world, OPEN);
  layEnded(world, ENDED, 'completed');
  layUsage(world, samples);
}

/** `usage` of the run, having seen that status and list say the same. */
async function usageOf(world: World, runId: string, call = {}): Promise<unknown> {
  const { usage } = await askData(world, ['job', 'status', runId, '--usage'], call);
  const { jobs } = await askData(world, ['job', 'list', '--usage'], call);
  const row = jobs.find((each: { run_id: string }) => each.run_id === runId);
  expect(row.usage).toEqual(usage);
  return usage;
}

const unavailable = (reason: string, detail: unknown = expect.stringMatching(/\S/)) => ({
  available: false,
  value: null,
  reason_code: reason,
  detail,
});

describe('--usage for a program', () => {
  it('shows the last sample under the wrapper, on status and on every row', async () => {
    await inWorld(async (world) => {
      const sampled_ms = Math.floor(Date.now() / 1000) * 1000 - 30_000;
      await lay(world, [{ run_id: OPEN, sampled_ms }]);
      expect(await usageOf(world, OPEN)).toEqual({
        available: true,
        value: {
          cpu_percent: 12.3,
          rss_bytes: 340 * MB,
          peak_rss_bytes: 512 * MB,
          processes: 3,
          sampled_at: `${new Date(sampled_ms).toISOString().slice(0, 19)}+00:00`,
        },
        reason_code: null,
        detail: null,
      });
    });
  });

  it('is absent unless it is asked for, and changes nothing else of the answer', async () => {
    await inWorld(async (world) => {
      layEnded(world, ENDED, 'completed');
      layUsage(world, [{ run_id: ENDED }]);
      const [bare, asked] = [
        await askData(world, ['job', 'status', ENDED]),
        await askData(world, ['job', 'status', ENDED, '--usage']),
      ];
      expect(Object.keys(asked)).toEqual([...Object.keys(bare), 'usage']);
      expect({ ...asked, usage: undefined }).toEqual({ ...bare, usage: undefined });
      const [bareList, askedList] = [
        await askData(world, ['job', 'list']),
        await askData(world, ['job', 'list', '--usage']),
      ];
      expect(Object.keys(askedList.jobs[0])).toEqual([...Object.keys(bareList.jobs[0]), 'usage']);
    });
  });

  it('takes an old sample for the use of an ended run, and not for that of an open one', async () => {
    await inWorld(async (world) => {
      const sampled_ms = Date.UTC(2026, 0, 2, 3, 4, 5);
      await lay(world, [
        { run_id: OPEN, sampled_ms },
        { run_id: ENDED, sampled_ms },
      ]);
      expect(await usageOf(world, ENDED)).toMatchObject({
        available: true,
        value: { rss_bytes: 340 * MB, sampled_at: '2026-01-02T03:04:05+00:00' },
      });
      expect(await usageOf(world, OPEN)).toEqual(
        unavailable('not_sampled', expect.stringContaining('2026-01-02T03:04:05+00:00')),
      );
    });
  });

  it('tells a real zero from a meter that could not be read', async () => {
    await inWorld(async (world) => {
      await lay(world, [
        { run_id: OPEN, cpu_percent: 0, peak_rss_bytes: null },
        { run_id: ENDED, cpu_percent: null, rss_bytes: null },
      ]);
      expect(await usageOf(world, OPEN)).toMatchObject({ value: { cpu_percent: 0, peak_rss_bytes: null } });
      expect(await usageOf(world, ENDED)).toEqual(unavailable('unreadable'));
    });
  });

  it('a run that was never sampled is not_sampled beside one that was', async () => {
    await inWorld(async (world) => {
      await lay(world, [{ run_id: OPEN }]);
      expect(await usageOf(world, ENDED)).toEqual(unavailable('not_sampled'));
      expect(await usageOf(world, OPEN)).toMatchObject({ available: true });
    });
  });
});

describe('--usage without an index that can be read', () => {
  const BROKEN: [string, RegExp, (file: string) => void][] = [
    ['no index', /no index/, (file) => rmSync(file)],
    ['no state directory', /no index/, (file) => rmSync(dirname(file), { recursive: true })],
    ['an empty file', /version 0/, (file) => truncateSync(file, 0)],
    ['a text file in its place', /not a database/, (file) => writeFileSync(file, 'a text\n'.repeat(2_000))],
    ['a directory in its place', /no index/, (file) => [rmSync(file), mkdirSync(file)]],
    ['a FIFO in its place', /no index/, (file) => [rmSync(file), execFileSync('mkfifo', [file])]],
    ['half of the file', /malformed/, (file) => truncateSync(file, readFileSync(file).length / 2)],
    ['a damaged table', /malformed/, damageTable],
    ['another version', /version 77/, (file) => edit(file, 'PRAGMA user_version = 77')],
    ['no table', /no such table/, (file) => edit(file, 'DROP TABLE usage')],
    ['another table', /no such column/, (file) => edit(file, 'ALTER TABLE usage RENAME processes TO x')],
    ['text for a meter', /damaged/, (file) => edit(file, "UPDATE usage SET rss_bytes = 'much'")],
    ['a time that is none', /damaged/, (file) => edit(file, 'UPDATE usage SET sampled_ms = 9e18')],
    ['a file that may not be read', /unable to open/, (file) => chmodSync(file, 0)],
    [
      'a directory where nothing can be made',
      /readonly|unable to open/,
      (file) => chmodSync(dirname(file), 0o500),
    ],
  ];

  it.each(BROKEN)('%s: not_sampled, says why, and the answer stays', async (_what, detail, spoil) => {
    await inWorld(async (world) => {
      layEnded(world, ENDED, 'completed');
      spoil(layUsage(world, [{ run_id: ENDED }]));
      const user = giveToOrdinaryUser(world);
      const told = unavailable('not_sampled', expect.stringMatching(detail));
      expect(await usageOf(world, ENDED, user)).toEqual(told);
      const { status, outcome } = await askData(world, ['job', 'status', ENDED, '--usage'], user);
      expect([status, outcome]).toEqual(['completed', 'succeeded']);
      if (existsSync(dirname(indexFileOf(world)))) chmodSync(dirname(indexFileOf(world)), 0o700);
    });
  });

  it('locked by a writer that holds all of it: not_sampled, and soon', async () => {
    await inWorld(async (world) => {
      layEnded(world, ENDED, 'completed');
      const writer = new Database(layUsage(world, [{ run_id: ENDED }]));
      try {
        writer.pragma('journal_mode = DELETE');
        writer.exec('BEGIN EXCLUSIVE');
        const began = performance.now();
        expect(await usageOf(world, ENDED)).toEqual(
          unavailable('not_sampled', expect.stringContaining('locked')),
        );
        expect(performance.now() - began).toBeLessThan(5_000);
      } finally {
        writer.close();
      }
    });
  });

  it('under a writer in the middle of its work: the last sample that it finished', async () => {
    await inWorld(async (world) => {
      layEnded(world, ENDED, 'completed');
      const writer = new Database(layUsage(world, [{ run_id: ENDED }]));
      try {
        writer.exec('BEGIN IMMEDIATE; UPDATE usage SET rss_bytes = 1');
        expect(await usageOf(world, ENDED)).toMatchObject({ value: { rss_bytes: 340 * MB } });
      } finally {
        writer.close();
      }
    });
  });

  it('without the module: not_sampled, and everything else is answered', async () => {
    await inWorld(async (world) => {
      layEnded(world, ENDED, 'completed');
      layUsage(world, [{ run_id: ENDED }]);
      const call = through(installInto(world, 'without', ['better-sqlite3']));
      const told = unavailable('not_sampled', expect.stringContaining('better-sqlite3'));
      expect(await usageOf(world, ENDED, call)).toEqual(told);
    });
  });
});

describe('--usage for a person', () => {
  it('is a column of the list, with a dash and no zero where nothing is known', async () => {
    await inWorld(async (world) => {
      const other = runIdOf(3);
      layEnded(world, other, 'completed');
      await lay(world, [{ run_id: OPEN }, { run_id: other, cpu_percent: null, rss_bytes: 3 * 1024 * MB }]);
      const { stdout } = await runLion(['job', 'list', '--usage'], world);
      const [title, ...lines] = stdout.trimEnd().split('\n');
      const at = title?.indexOf('USAGE') ?? -1;
      const cells = lines.map((line) => line.slice(at, at + 8).trim());
      expect(cells).toEqual(['- 3.0G', '12% 340M', '-']);
      expect((await runLion(['job', 'list'], world)).stdout).not.toContain('USAGE');
    });
  });

  it('is still there on a terminal of 80 columns, and no line is wider', async () => {
    await inWorld(async (world) => {
      await lay(world, [{ run_id: OPEN, cpu_percent: 1234.5 }]);
      layEnded(world, runIdOf(4), 'completed_empty', { label: 'a label of many words '.repeat(5) });
      const { screen } = await lionOnTerminal(world, ['job', 'list', '--usage']);
      expect(screen).toContain('1235% 340M');
      const wide = screen
        .replace(SGR, '')
        .split('\n')
        .filter((line) => stringWidth(line) > 80);
      expect(wide).toEqual([]);
    });
  });

  it('is a line of the status, with the peak and its age, or why there is none', async () => {
    await inWorld(async (world) => {
      await lay(world, [{ run_id: ENDED, sampled_ms: Date.now() - 7_200_500 }]);
      const status = async (runId: string) =>
        (await runLion(['job', 'status', runId, '--usage'], world)).stdout;
      expect(await status(ENDED)).toMatch(/\nusage +12% 340M, peak 512M, 3 processes \(2h ago\)\n/);
      expect(await status(OPEN)).toMatch(/\nusage +- \(it was never sampled\)\n/);
      expect((await runLion(['job', 'status', ENDED], world)).stdout).not.toMatch(/^usage/m);
    });
  });
});

function edit(file: string, sql: string): void {
  const index = new Database(file);
  index.exec(sql);
  index.close();
}

/** All of the file but the header's page, which still says that it is a database of our version. */
function damageTable(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, 4096);
  writeFileSync(file, bytes);
}
