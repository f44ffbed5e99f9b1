import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../../support/in-world.ts';
import { goneIdentity, type LaidRun, layRun } from '../../support/lay-run.ts';
import { runLion } from '../../support/lion.ts';

/** Answers of a row for an entry that is not as it should be. */
type Wanted = Record<string, unknown>;
const UNREADABLE: Wanted = { record_state: 'unreadable', terminal: false, status: 'unknown' };
const ENDED: Wanted = { record_state: 'ok', terminal: true, outcome: 'indeterminate' };

const bare = (lay: (run: LaidRun) => void) => (run: LaidRun) => {
  rmSync(run.recordFile);
  lay(run);
};

/** The same run with many more members before its own. */
function crowd(run: LaidRun, count: number): void {
  const members = Array.from({ length: count }, (_, index) => `"key ${index}": ${index}`);
  writeFileSync(run.recordFile, `{${members.join(',')},${run.text().slice(1)}`);
}

const ENTRIES: [string, (run: LaidRun) => void, Wanted][] = [
  ['a FIFO', bare((run) => void execFileSync('mkfifo', [run.recordFile])), UNREADABLE],
  ['a directory', bare((run) => mkdirSync(run.recordFile)), UNREADABLE],
  ['a device', bare((run) => symlinkSync('/dev/zero', run.recordFile)), UNREADABLE],
  ['a sparse file of 1 GiB', bare((run) => makeSparse(run.recordFile)), UNREADABLE],
  ['half a record', (run) => writeFileSync(run.recordFile, run.text().slice(0, 200)), UNREADABLE],
  [
    'escaped quotes without an end, after a NaN',
    (run) => writeFileSync(run.recordFile, `[NaN, "${'\\"'.repeat(80_000)}`),
    UNREADABLE,
  ],
  ['a list', (run) => writeFileSync(run.recordFile, '[]'), { ...UNREADABLE, record_state: 'wrong_shape' }],
  ['a gone run of 150,000 members', (run) => crowd(run, 150_000), ENDED],
];

const ANSWER_WITHIN_MS = 30_000;

describe('one bad entry costs one row, never the list', () => {
  it.each(ENTRIES)('%s between two gone runs', async (_what, damage, wanted) => {
    await inWorld(async (world) => {
      const runs = ['20260801T120001-aaaaaa', '20260801T120002-aaaaaa', '20260801T120003-aaaaaa'];
      const [, middle] = [
        layRun(world, runs[0] ?? '', await goneIdentity()),
        layRun(world, runs[1] ?? '', await goneIdentity()),
        layRun(world, runs[2] ?? '', await goneIdentity()),
      ];
      damage(middle);
      const listed = await runLion(['job', 'list', '--machine'], { env: world.env, cwd: world.cwd });
      expect(listed.envelope ?? listed).toMatchObject({ ok: true });
      expect(listed.envelope?.data.jobs).toMatchObject([
        { run_id: runs[2], ...ENDED },
        { run_id: runs[1], ...wanted },
        { run_id: runs[0], ...ENDED },
      ]);
      expect(listed.ms).toBeLessThan(ANSWER_WITHIN_MS);
    });
  });
});

function makeSparse(file: string): void {
  const fd = openSync(file, 'w');
  ftruncateSync(fd, 1024 ** 3);
  closeSync(fd);
}
