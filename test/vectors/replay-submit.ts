import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ErrorEnvelope } from '../support/expected.ts';
import { JsonNumber } from '../support/json-tree.ts';
import { isThere } from '../support/processes.ts';
import { shown } from '../support/record-compare.ts';
import { startTimeOf } from '../support/start-time.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Answer, askMachine } from './call.ts';
import { namesIn } from './compare-after.ts';
import { compareError } from './compare-status.ts';
import { compareSubmitted, type Submitted } from './compare-submitted.ts';
import { differencesOf } from './differences.ts';
import { bytesOf, type LaidOut, layOut } from './lay-out.ts';
import { loadSubmissions, type Submission } from './load-submit.ts';
import { fillText } from './placeholders.ts';
import { timeOfCall } from './time-of-call.ts';
import { withWorld } from './with-world.ts';

/** How ours starts what the recorder calls `submit KIND`. */
const VERBS: Record<string, readonly string[]> = {
  agent: ['agent'],
  flow: ['orchestrate', 'flow'],
  fanout: ['orchestrate', 'fanout'],
  play: ['play'],
};

/** What Linux takes: 32 pages, the final NUL among them. */
const LONGEST_ARGUMENT_BYTES = 131_071;

/** Registers a test for every recorded submission: it is made through the built CLI, and its child is real. */
export function replaySubmissions(): void {
  describe.concurrent('recorded answers: submit (ADR-0106 D5)', () => {
    for (const submission of loadSubmissions()) {
      it(`${submission.id} ${submission.title}`, async () => {
        for (const { adjust } of differencesOf(submission)) adjust(submission.expect, submission);
        expect(await withWorld(layOut(submission), (laid) => replay(laid, submission))).toEqual([]);
      });
    }
  });
}

async function replay(laid: LaidOut, submission: Submission): Promise<string[]> {
  const childNote = join(laid.world.root, 'child.json');
  laid.world.env.FAKE_LI_CHILD = childNote;
  const from = Date.now();
  const answer = await askMachine(laid, ourWords(laid, submission));
  const now = timeOfCall(from, Date.now());
  const { expect } = submission;
  const handle = expect.get('handle');
  if (!expect.has('record')) {
    const kind = handle instanceof ErrorEnvelope ? handle.kind : 'one that differences.ts names';
    return [...compareError(answer, kind), ...untouched(laid, expect.get('job_dirs'))];
  }
  const [runId, problem] = onlyRun(laid, answer);
  if (runId === null) return [problem];
  const submitted: Submitted = { answer, now, childNote, ...(await processOf(laid, answer)) };
  return compareSubmitted(inRun(laid, runId), submitted, expect);
}

function ourWords(laid: LaidOut, { words }: Submission): string[] {
  const [kind = '', ...rest] = words.map((word) => fillText(word, laid.facts));
  const verb = VERBS[kind];
  if (!verb) throw new Error(`a kind that is not known: ${kind}`);
  return [...verb, '--detach', '--machine', ...promptByFile(laid, rest)];
}

/** No command line can say a prompt that no child can be given: ours comes in a file. */
function promptByFile(laid: LaidOut, words: readonly string[]): string[] {
  const at = words.indexOf('--prompt');
  const prompt = at === -1 ? undefined : words[at + 1];
  if (prompt === undefined || Buffer.byteLength(prompt) <= LONGEST_ARGUMENT_BYTES) return [...words];
  const file = join(laid.world.root, 'long-prompt');
  writeFileSync(file, prompt);
  return [...words.slice(0, at), '--prompt-file', file, ...words.slice(at + 2)];
}

/** Nothing of a refused submission is on disk. */
function untouched(laid: LaidOut, recorded: unknown): string[] {
  if (!(recorded instanceof JsonNumber) || recorded.text !== '0') return ['recorded with directories'];
  const names = namesIn(laid.world.jobs);
  return Array.isArray(names) && names.length > 0 ? [`left in the jobs directory: ${names}`] : [];
}

/** The run it made; there must be one and no more. */
function onlyRun(laid: LaidOut, answer: Answer): [string, ''] | [null, string] {
  const names = namesIn(laid.world.jobs);
  if (Array.isArray(names) && names.length === 1) return [String(names[0]), ''];
  return [null, `one run wanted, found ${shown(names)}: ${shown(answer.error)} ${answer.problems}`];
}

/** The child, if one was started, with what the recorder calls `$PID`, `$PGID` and `$CREATE_TIME`. */
async function processOf(laid: LaidOut, answer: Answer): Promise<Pick<Submitted, 'pid' | 'createTime'>> {
  const pid = answer.data.get('pid');
  if (!(pid instanceof JsonNumber)) return { pid: null, createTime: null };
  const number = Number(pid.text);
  laid.world.onDispose(async () => {
    if (!isThere(number)) return;
    process.kill(-number, 'SIGKILL');
    await waitUntil('the child to be gone', () => !isThere(number));
  });
  return { pid: number, createTime: startTimeOf(number).createTime };
}

/** The world as the placeholders of the recording name it, now that the run has an id. */
function inRun(laid: LaidOut, runId: string): LaidOut {
  const jobDir = join(laid.world.jobs, runId);
  const names = { ...laid.facts.names, RUN: runId, JOBDIR: jobDir };
  const recordFile = join(jobDir, 'job.json');
  return { ...laid, runId, jobDir, recordFile, before: bytesOf(recordFile), facts: { ...laid.facts, names } };
}
