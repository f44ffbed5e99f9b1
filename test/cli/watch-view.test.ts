import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { changeLines } from '../../cli/render/changes.ts';
import { progressText } from '../../cli/render/progress.ts';
import type { Screen } from '../../cli/render/screen.ts';
import { type WatchedRun, watchLines } from '../../cli/render/watch.ts';
import type { Row } from '../../shared/contract/row.ts';
import { HOSTILE_TEXT, hostileBits } from '../support/hostile-text.ts';
import { runIdOf } from '../support/runs-of-all-sorts.ts';

const NOW = Date.parse('2026-08-01T12:10:00Z');

function screenOf(columns: number, rows: number): Screen {
  return { columns, rows, colour: false, nowMs: NOW };
}

function run(n: number, over: Partial<Row> = {}, logEnd = ''): WatchedRun {
  const row = {
    run_id: runIdOf(n),
    status: 'running',
    terminal: false,
    outcome: null,
    label: null,
    submitted_at: '2026-08-01T12:00:00Z',
    record_state: 'ok',
    ...over,
  };
  const usage = { available: false, value: null, reason_code: 'not_sampled', detail: null };
  return { runId: runIdOf(n), row: row as unknown as Row, usage, logEnd };
}

const ENDED: Partial<Row> = { status: 'completed', terminal: true, outcome: 'succeeded' };

function many(count: number): WatchedRun[] {
  return Array.from({ length: count }, (_, at) => {
    const kind = at % 3;
    const ended =
      kind === 1 ? { ...ENDED, notify_delivery_state: 'delivered', notify_retry_state: null } : {};
    const odd = kind === 2 ? { possibly_orphaned: true, label: '\u65e5\u672c\u8a9e \u{1f600} label' } : {};
    return run(at + 1, { ...ended, ...odd }, `one\n\u65e5\u672c\u8a9e ${'long '.repeat(60)}${HOSTILE_TEXT}`);
  });
}

describe('the view of lion job watch', () => {
  it('has a line for each run: id, state, age, notice, label, last line of its log', () => {
    const runs = [
      run(2, { label: 'nightly' }, 'first\n\u001b[32mstep\t2\u001b[0m\n\n'),
      run(1, { ...ENDED, notify_retry_state: 'retrying', notify_delivery_state: 'failed' }),
    ];
    const lines = watchLines(screenOf(100, 24), runs, null);
    expect(lines.slice(1)).toEqual([
      'RUN                     STATE      AGE  NOTICE    LABEL    LAST LINE',
      `${runIdOf(2)}  running    10m            nightly  step 2`,
      `${runIdOf(1)}  succeeded  10m  retrying`,
    ]);
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d {2}1 open, 1 ended {2}/);
  });

  it('fits any width and height, and says how many it does not show', () => {
    for (let columns = 20; columns <= 200; columns += 7) {
      for (const rows of [1, 2, 3, 5, 8, 24, 60]) {
        const lines = watchLines(screenOf(columns, rows), many(20), null);
        const about = `${columns} x ${rows}`;
        expect(lines.length, about).toBeLessThanOrEqual(rows);
        for (const line of lines) expect(stringWidth(line), about).toBeLessThanOrEqual(columns);
        expect(hostileBits(lines.join('\n')), about).toEqual([]);
        if (rows === 8) expect(lines.at(-1), about).toBe('... and 15 more');
        if (rows === 24) expect(lines, about).toHaveLength(22);
      }
    }
  });

  it('a narrow one names runs by the ends of their ids, where those tell them apart', () => {
    const [, , first] = watchLines(screenOf(40, 24), [run(1)], null);
    expect(first).toBe(`${runIdOf(1).slice(-6)}  running  10m`);
  });

  it('says that it is not up to date, and why', () => {
    const [head] = watchLines(screenOf(80, 24), [run(1)], 'cannot be listed: EACCES\u001b[2J');
    expect(head).toBe('not up to date: cannot be listed: EACCES\\x1b[2J');
  });

  it('shows that there is nothing to see', () => {
    expect(watchLines(screenOf(80, 24), [], null)).toEqual([expect.stringContaining('no open runs')]);
  });
});

describe('the changes of lion job watch', () => {
  const of = (before: WatchedRun[], now: WatchedRun[], gone = false): string =>
    changeLines(before, now, 'T', () => gone).join('');

  it('a run that is new is told with its state and label, the older one first', () => {
    expect(of([], [run(2, { label: 'a\u001b[2J\nb' }), run(1)])).toBe(
      `T ${runIdOf(1)} running\nT ${runIdOf(2)} running (a\\x1b[2J\\x0ab)\n`,
    );
  });

  it('an end and what becomes of its notice are a line each; what stays is none', () => {
    const owed = run(1, { ...ENDED, notify_retry_state: 'owed' });
    const sent = run(1, { ...ENDED, notify_retry_state: null, notify_delivery_state: 'delivered' });
    expect(of([run(1)], [owed])).toBe(`T ${runIdOf(1)} running -> succeeded\nT ${runIdOf(1)} notice:owed\n`);
    expect(of([owed], [sent])).toBe(
      `T ${runIdOf(1)} notice:delivered\nT ${runIdOf(1)} no longer notice:owed\n`,
    );
    expect(of([sent], [sent])).toBe('');
    expect(of([run(1, {}, 'one')], [run(1, {}, 'two')])).toBe('');
  });

  it('one that was taken away is told, one that is only no longer shown is not', () => {
    expect(of([run(1)], [], true)).toBe(`T ${runIdOf(1)} is not in the store any more\n`);
    expect(of([run(1)], [])).toBe('');
  });
});

describe('a line of progress', () => {
  it('is never as wide as the terminal', () => {
    expect(progressText('waiting', 12_400, 80)).toBe('waiting (12s)');
    for (let columns = 1; columns < 60; columns++) {
      expect(progressText('waiting for 12 runs to end', 1_000, columns).length).toBeLessThan(columns);
    }
  });
});
