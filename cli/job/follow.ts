import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { statusData } from '../../shared/contract/status-view.ts';
import type { Engine } from '../../shared/engine.ts';
import { printable, printableBlock } from '../../shared/printable.ts';
import { ONE_RUN_BOUNDS, type RunStatus, statusOf } from '../../shared/run/status.ts';
import type { Submitted } from '../../shared/submit/submit.ts';
import { sleep } from '../../shared/time/sleep.ts';
import type { Answer, Call, Chunk } from '../verb.ts';

const LOOK_INTERVAL_MS = 200;

/**
 * Stays with a run until it has ended: shows its log as it grows and exits by its outcome. Interrupted, it
 * leaves the run alone and says how to come back.
 */
export async function followUntilEnd(
  call: Call,
  engine: Engine,
  submitted: Submitted,
  maxWaitMs: number,
): Promise<Answer> {
  const { runId, log } = submitted.files;
  if (call.machine) {
    // Whoever gives up before the answer has the id by then.
    await call.tell(`run ${runId}`);
    const last = await lastStatus(engine, runId, performance.now() + maxWaitMs);
    return { data: statusData(engine, last), human: () => '' };
  }
  return { data: {}, human: () => '', follow: () => stream(engine, runId, log) };
}

async function* stream(engine: Engine, runId: string, log: string): AsyncGenerator<Chunk, number> {
  yield { to: 'stderr', text: `run ${runId}; Ctrl-C leaves it running\n` };
  const tail = new Tail(log);
  try {
    for (;;) {
      const status = await look(engine, runId);
      const grown = tail.read();
      if (grown !== '') yield { to: 'stdout', text: printableBlock(grown) };
      if (status.derived.terminal) {
        yield { to: 'stderr', text: `run ${runId} ended: ${printable(status.derived.outcome)}\n` };
        return status.derived.outcome === 'succeeded' ? 0 : 1;
      }
      if (engine.signal.aborted) break;
      await sleep(LOOK_INTERVAL_MS, engine.signal);
    }
  } finally {
    tail.close();
  }
  yield { to: 'stderr', text: `left run ${runId} running; come back with: lion job wait ${runId}\n` };
  return 0;
}

async function lastStatus(engine: Engine, runId: string, deadlineMs: number): Promise<RunStatus> {
  for (;;) {
    const status = await look(engine, runId);
    const leftMs = deadlineMs - performance.now();
    if (status.derived.terminal || engine.signal.aborted || leftMs <= 0) return status;
    await sleep(Math.min(LOOK_INTERVAL_MS, leftMs), engine.signal);
  }
}

function look(engine: Engine, runId: string): Promise<RunStatus> {
  return statusOf(engine, runId, {
    ...ONE_RUN_BOUNDS,
    probeEnded: true,
    seenAlive: true,
  });
}

/** What has been added to a file since the last look; a character cut by the end of it waits for its rest. */
class Tail {
  readonly #fd: number;
  readonly #decoder = new StringDecoder('utf8');
  #at = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'r');
  }

  read(): string {
    const length = Math.max(0, fstatSync(this.#fd).size - this.#at);
    const bytes = Buffer.alloc(length);
    const got = readSync(this.#fd, bytes, 0, length, this.#at);
    this.#at += got;
    return this.#decoder.write(bytes.subarray(0, got));
  }

  close(): void {
    closeSync(this.#fd);
  }
}
