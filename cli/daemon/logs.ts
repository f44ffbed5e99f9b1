import { join } from 'node:path';
import { LionError } from '../../shared/contract/errors.ts';
import { printable } from '../../shared/printable.ts';
import { homeOf } from '../../shared/store/home.ts';
import { sleep } from '../../shared/time/sleep.ts';
import { LogTail } from '../service/log-tail.ts';
import { lastLines } from '../service/own-log.ts';
import type { Answer, Call, Chunk } from '../verb.ts';

const DEFAULT_LINES = 50;
const MAX_LINES = 10_000;
const LOOK_INTERVAL_MS = 200;

/**
 * `lion daemon logs`: the end of the supervisor's own log, from its file alone.
 * @throws LionError `invalid_input`; `unavailable` where there is no log and none is waited for.
 */
export function daemonLogs(
  call: Call,
  options: { readonly lines?: string; readonly follow?: boolean },
): Answer {
  const count = countOf(options.lines);
  const file = join(homeOf(call.env, '/').stateDir, 'liond.log');
  if (options.follow) {
    if (call.machine)
      throw new LionError('invalid_input', '--follow stays and is for people; leave --machine out');
    return { data: {}, human: () => '', follow: () => follow(call, file, count) };
  }
  const lines = linesOf(file, count);
  if (lines === null)
    throw new LionError(
      'unavailable',
      `there is no log at ${file}: no supervisor has run over this store; start one: lion daemon install, or lion daemon run`,
    );
  return { data: { file, lines }, human: () => lines.map((line) => `${printable(line)}\n`).join('') };
}

function linesOf(file: string, count: number): string[] | null {
  const lines = lastLines(file, count);
  const older = olderLines(file, count - (lines?.length ?? 0));
  return lines === null && older === null ? null : [...(older ?? []), ...(lines ?? [])];
}

/** From the file before, where a new one has begun. */
function olderLines(file: string, count: number): string[] | null {
  return count === 0 ? [] : lastLines(`${file}.1`, count);
}

async function* follow(call: Call, file: string, count: number): AsyncGenerator<Chunk, number> {
  const tail = new LogTail(file);
  try {
    const last = tail.newLines().slice(-count);
    for (const line of [...(olderLines(file, count - last.length) ?? []), ...last]) yield shown(line);
    while (!call.signal.aborted) {
      for (const line of tail.newLines()) yield shown(line);
      await sleep(LOOK_INTERVAL_MS, call.signal);
    }
  } finally {
    tail.close();
  }
  return 0;
}

function shown(line: string): Chunk {
  return { to: 'stdout', text: `${printable(line)}\n` };
}

function countOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LINES;
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MAX_LINES) return count;
  throw new LionError(
    'invalid_input',
    `--lines takes a whole number from 1 to ${MAX_LINES}, not ${JSON.stringify(text)}`,
  );
}
