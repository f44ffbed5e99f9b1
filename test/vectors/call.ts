import type { Json, JsonObject } from '../support/json-tree.ts';
import { parseJson } from '../support/json-tree.ts';
import { type LionRun, runLion } from '../support/lion.ts';
import type { LaidOut } from './lay-out.ts';

/** An envelope with its numbers as written, and what is wrong with it as an envelope. */
export interface Answer {
  ok: boolean;
  data: JsonObject;
  error: JsonObject;
  ms: number;
  problems: string[];
}

const NOTHING: JsonObject = new Map();

export function callLion(laid: LaidOut, args: readonly string[]): Promise<LionRun> {
  return runLion(args, {
    env: laid.world.env,
    cwd: laid.world.cwd,
    ...(laid.uid === undefined ? {} : { uid: laid.uid }),
    ...(laid.through === undefined ? {} : { through: laid.through }),
  });
}

/** A call under --machine: whatever happens, exactly one envelope and exit status 0. */
export async function askMachine(laid: LaidOut, args: readonly string[]): Promise<Answer> {
  const run = await callLion(laid, args);
  const envelope = envelopeIn(run);
  const ok = envelope.get('ok') === true;
  const [data, error] = [envelope.get('data'), envelope.get('error')];
  const problems = [...callProblems(run), ...(envelope === NOTHING ? [] : shapeProblems(envelope))];
  return {
    ok,
    data: data instanceof Map ? data : NOTHING,
    error: error instanceof Map ? error : NOTHING,
    ms: run.ms,
    problems,
  };
}

function envelopeIn(run: LionRun): JsonObject {
  try {
    const value = parseJson(run.stdout);
    return value instanceof Map ? value : NOTHING;
  } catch {
    return NOTHING;
  }
}

function callProblems(run: LionRun): string[] {
  const problems: string[] = [];
  if (run.exitCode !== 0)
    problems.push(`exit status ${run.exitCode ?? run.signal}: ${run.stderr.slice(-600)}`);
  if (envelopeIn(run) === NOTHING)
    problems.push(`no envelope: ${run.stdout.slice(0, 300)} ${run.stderr.slice(-600)}`);
  else if (!/^[^\n]+\n$/.test(run.stdout)) problems.push('the envelope is not one line');
  return problems;
}

function shapeProblems(envelope: JsonObject): string[] {
  const names = [...envelope.keys()].sort().join();
  if (names !== 'contract_version,data,error,ok') return [`the keys of the envelope: ${names}`];
  const [data, error] = [envelope.get('data'), envelope.get('error')];
  if (envelope.get('ok') === true)
    return error === null && data instanceof Map ? [] : ['ok, but not with data alone'];
  return data === null && isError(error)
    ? []
    : ['not ok, but not with an error of kind, message and detail alone'];
}

function isError(error: Json | undefined): boolean {
  if (!(error instanceof Map)) return false;
  const message = error.get('message');
  return (
    typeof error.get('kind') === 'string' &&
    typeof message === 'string' &&
    message !== '' &&
    error.has('detail')
  );
}
