import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../../support/in-world.ts';
import { goneIdentity, type LaidRun, layRun } from '../../support/lay-run.ts';
import { runLion } from '../../support/lion.ts';
import { throughStrace, whyNoStrace } from '../../support/strace.ts';
import type { World } from '../../support/world.ts';

const RUN = '20260801T120001-aaaaaa';
const WRITES = ['write', 'pwrite64', 'writev'];
const RENAMES = ['rename', 'renameat', 'renameat2'];
const CALLS = [...WRITES, ...RENAMES, 'fsync', 'fdatasync', 'execve'];

/** A gone run whose notifier leaves a line in a file. */
async function layGone(world: World): Promise<{ run: LaidRun; log: string }> {
  const log = join(world.root, 'notices');
  const command = JSON.stringify(['/bin/sh', '-c', `echo {run_id} >> ${log}`]);
  return { run: layRun(world, RUN, { ...(await goneIdentity()), notify_command: command }), log };
}

/** What a trace says about the record, its directory and the notifier, in order. */
function stepsIn(trace: string, run: LaidRun): string[] {
  return trace.split('\n').flatMap((line) => {
    const call = /^\d+ +(\w+)\((.*)/.exec(line);
    if (call === null || line.includes(' resumed>')) return [];
    const [, name = '', rest = ''] = call;
    const what = stepOf(name, rest, run);
    return what === null ? [] : [what];
  });
}

function stepOf(name: string, rest: string, run: LaidRun): string | null {
  if (name === 'execve') return rest.startsWith('"/bin/sh"') ? 'notifier' : null;
  if (RENAMES.includes(name)) return rest.includes(`"${run.recordFile}"`) ? 'rename' : null;
  const sync = name === 'fsync' || name === 'fdatasync';
  if (/^\d+<[^>]*\/\.job\.json\.[^>]*>/.test(rest)) return sync ? 'flush file' : 'write file';
  if (rest.startsWith(`${/^\d+/.exec(rest)?.[0]}<${run.dir}>`)) return sync ? 'flush directory' : null;
  return null;
}

const whyNot = whyNoStrace();
describe(`the order of a reap and its notice on disk${whyNot === null ? '' : ` (skipped: ${whyNot})`}`, () => {
  it.skipIf(whyNot !== null)(
    'is write, flush, rename, flush the directory, and then the notifier',
    async () => {
      await inWorld(async (world) => {
        const { run, log } = await layGone(world);
        const trace = join(world.root, 'trace');
        const call = { env: world.env, cwd: world.cwd, through: throughStrace(trace, CALLS) };
        const { envelope } = await runLion(['job', 'status', RUN, '--machine'], call);
        expect(envelope?.data).toMatchObject({ terminal: true, notify_delivery_state: 'delivered' });
        expect(readFileSync(log, 'utf8')).toBe(`${RUN}\n`);
        const publication = ['write file', 'flush file', 'rename', 'flush directory'];
        // The end, the write-ahead of the notice, the notice, its result.
        expect(stepsIn(readFileSync(trace, 'utf8'), run)).toEqual([
          ...publication,
          ...publication,
          'notifier',
          ...publication,
        ]);
      });
    },
  );

  const DEATHS: [string, string, string, boolean][] = [
    ['before the temporary file is flushed', 'fsync', '1', false],
    ['before the rename', 'rename', '1', false],
    ['after the rename, before the directory is flushed', 'fsync', '2', true],
    ['before the write-ahead of the notice', 'fsync', '3', true],
    ['before the write-ahead is renamed', 'rename', '2', true],
  ];
  it.skipIf(whyNot !== null).each(DEATHS)(
    'leaves a whole record, old or new, to a kill %s, and no notice',
    async (_when, call, nth, ended) => {
      await inWorld(async (world) => {
        const { run, log } = await layGone(world);
        const before = run.text();
        const inject = ['-e', `inject=${call}:signal=SIGKILL:when=${nth}`];
        const through = throughStrace('/dev/null', [call], inject);
        const killed = await runLion(['job', 'status', RUN, '--machine'], {
          ...{ env: world.env, cwd: world.cwd, through },
        });
        expect(killed.stdout).toBe('');
        if (ended) expect(run.record().get('terminal_source')).toBe('mcp_orphan_reaper');
        else expect(run.text()).toBe(before);
        expect(existsSync(log)).toBe(false);

        const { envelope } = await runLion(['job', 'status', RUN, '--machine'], {
          ...{ env: world.env, cwd: world.cwd },
        });
        expect(envelope?.data).toMatchObject({ terminal: true, outcome: 'indeterminate', refusal: null });
        // Whoever writes the end sends its notice; one that was not sent is owed, on the record.
        expect(existsSync(log)).toBe(!ended);
        expect(envelope?.data.notify_retry_state).toBe(ended ? 'owed' : null);
        const left = readdirSync(run.dir).filter((name) => !['job.json', 'job.lock'].includes(name));
        expect(left.filter((name) => !/^\.job\.json\.lion-\d+-[0-9a-f]+\.tmp$/.test(name))).toEqual([]);
      });
    },
  );
});
