import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import type { LaidRun } from '../support/lay-run.ts';
import { layGone, noticeOf, runIdOf } from '../support/runs-of-all-sorts.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import { throughStrace, whyNoStrace } from '../support/strace.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { waitUntil } from '../support/wait-until.ts';

const CALLS = ['write', 'pwrite64', 'rename', 'renameat', 'renameat2', 'fsync', 'fdatasync', 'execve'];
/** As the Python side names its own. */
const FOREIGN_TEMPORARY = /^\.job\.json\.\d+\.[0-9a-f]+\.tmp$/;

interface Traced {
  readonly steps: string[];
  /** The temporary names that records were written under. */
  readonly temporaries: string[];
}

/** What a trace says of a record, its directory and its notifier, in order. */
function traced(text: string, run: LaidRun, notifier: string): Traced {
  const calls = text.split('\n').filter((line) => !line.includes(' resumed>'));
  const steps = calls.map((line) => stepOf(line, run, notifier)).filter((step) => step !== null);
  const names = [...text.matchAll(/<[^>]*\/(\.job\.json\.[^>/]*)>/g)].map((match) => match[1] ?? '');
  return { steps, temporaries: [...new Set(names)] };
}

function stepOf(line: string, run: LaidRun, notifier: string): string | null {
  const [, call = '', rest = ''] = /^\d+ +(\w+)\((.*)/.exec(line) ?? [];
  if (call === 'execve') return rest.startsWith(`"${notifier}"`) ? 'start the notifier' : null;
  if (call.startsWith('rename')) return rest.includes(`"${run.recordFile}"`) ? 'rename' : null;
  const target = /^\d+<([^>]*)>/.exec(rest)?.[1] ?? '';
  const isSync = call === 'fsync' || call === 'fdatasync';
  if (target.startsWith(`${run.dir}/.job.json.`)) return isSync ? 'flush the file' : 'write the file';
  return target === run.dir && isSync ? 'flush the directory' : null;
}

const whyNot = whyNoStrace();
const PUBLICATION = ['write the file', 'flush the file', 'rename', 'flush the directory'];

describe(`case 33: what has been announced survives a power loss${whyNot === null ? '' : ` (skipped: ${whyNot})`}`, () => {
  it.skipIf(whyNot !== null)(
    'case 33: the end and the write-ahead are flushed, renamed and their directory flushed before the notifier starts, under names the Python side does not use',
    async () => {
      await inWorld(async (world) => {
        const notifier = makeNotifier(world, 'notifier');
        const run = await layGone(world, runIdOf(1), { notify_command: notifier.command });
        const trace = join(world.root, 'trace');
        const supervisor = await startSupervisor(world, {
          through: `exec ${throughStrace(trace, CALLS).join(' ')} "$@"`,
        });
        await waitUntil('the result of its notice', () => noticeOf(run)?.ok === true, 60_000);
        const pid = Number(/\(pid (\d+)\)/.exec(supervisor.said())?.[1]);
        process.kill(pid, 'SIGTERM');
        await supervisor.ended();
        const { steps, temporaries } = traced(readFileSync(trace, 'utf8'), run, notifier.file);
        // The end; what is about to be sent; the notice; what came of it.
        expect(steps).toEqual([...PUBLICATION, ...PUBLICATION, 'start the notifier', ...PUBLICATION]);
        expect(temporaries).toHaveLength(3);
        expect(temporaries.filter((name) => FOREIGN_TEMPORARY.test(name))).toEqual([]);
        expect(notifier.calls()).toHaveLength(1);
      });
    },
  );
});
