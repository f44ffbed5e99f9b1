import { statSync } from 'node:fs';
import type { Engine } from '../engine.ts';
import { isFile } from '../file-kind.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import type { Json } from '../json/value.ts';
import { liCommandOf } from '../li-command.ts';
import { runChild } from '../process/run-child.ts';
import { locateProgram } from '../process/startable.ts';
import { type LifecycleEnd, lifecycleEndOf } from './end.ts';

export const LIFECYCLE_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 1_000_000;

/**
 * Asks the lifecycle store about a run whose record has no end (design 6). Any failure (no command, a time-out,
 * too much output, bad JSON) is null: learned nothing. The child is never left behind.
 */
export async function askLifecycle(
  engine: Engine,
  runId: string,
  timeoutMs: number = LIFECYCLE_TIMEOUT_MS,
): Promise<LifecycleEnd | null> {
  const [program, ...words] = liCommandOf(engine.env);
  if (program === undefined) return null;
  const cwd = isThere(engine.cwd) ? engine.cwd : '/';
  // A start that fails costs ten times a look (10 ms, measured), for each run of a store that has no `li`.
  if (!locateProgram(program, cwd, engine.env.PATH).some(isFile)) return null;
  const result = await runChild({
    program,
    args: [...words, 'lifecycle', runId, '--machine'],
    cwd,
    env: engine.env,
    stdin: null,
    timeoutMs,
    maxOutputBytes: MAX_ANSWER_BYTES,
    signal: engine.signal,
  });
  return result.kind === 'exited' ? lifecycleEndOf(parseAnswer(result.stdout)) : null;
}

/** A caller whose directory was removed still has its question asked. */
function isThere(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false }) !== undefined;
}

function parseAnswer(output: Buffer): Json {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(output);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}
