import { ErrorEnvelope, type Expected, type ExpectedObject, isExpectedObject } from '../support/expected.ts';
import { type Json, JsonNumber, parseJson, parseJsonObject } from '../support/json-tree.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import { type Answer, askMachine, callLion } from './call.ts';
import { compareKill } from './compare-kill.ts';
import { compareRows } from './compare-list.ts';
import { compareOutput } from './compare-output.ts';
import { compareRecord } from './compare-record.ts';
import { compareError, compareStatus } from './compare-status.ts';
import { compareWait } from './compare-wait.ts';
import { engine } from './engine-adapter.ts';
import type { EngineWaitOptions, ReapAnswer, WriterAnswer } from './engine-calls.ts';
import { askKill, untilEnded } from './kill-call.ts';
import type { LaidOut } from './lay-out.ts';

/** A call that has been made: how long it took, and how its answer compares with a recorded one. */
export interface Made {
  ms: number;
  compare: (recorded: Expected) => string[];
}

type Verb = (laid: LaidOut, args: readonly string[]) => Promise<Made>;

const VERBS: Record<string, Verb> = {
  status: async (laid, [id = '']) =>
    answered(await askMachine(laid, ['job', 'status', id, '--machine']), compareStatus),
  list: async (laid, args) => listed(await askMachine(laid, ['job', 'list', '--machine', ...args])),
  wait: async (laid, args) => (holdsNonText(args) ? engineWait(laid, args) : cliWait(laid, args)),
  output: async (laid, [id = '', ...args]) =>
    answered(await askMachine(laid, ['job', 'output', id, '--machine', ...renamed(args)]), compareOutput),
  kill: async (laid, [id = '', ...args]) => {
    const answer = await askKill(laid, id, args);
    if (answer.data.get('killed') === true) await untilEnded(laid);
    return answered(answer, compareKill);
  },
  hook: async (laid, args) => {
    const run = await callLion(laid, ['hook', 'terminal', ...args]);
    const exit = new Map<string, Json>([
      ['exit', run.exitCode === null ? null : new JsonNumber(String(run.exitCode))],
    ]);
    const compare = (recorded: Expected) =>
      mismatches(exit, recorded, {}, ['hook']).map((problem) => `${problem} ${run.stderr.slice(-600)}`);
    return { ms: run.ms, compare };
  },
  'mark-terminal': async (laid, [id = '', status = '', , reason]) =>
    wrote(await engine.markTerminal(worldOf(laid), id, status, ...(reason === undefined ? [] : [reason]))),
  'record-notify': async (laid, [id = '', text = '']) =>
    wrote(await engine.recordNotify(worldOf(laid), id, text)),
  'begin-notify': async (laid, [id = '']) => wrote(await engine.beginNotify(worldOf(laid), id)),
  'record-cause': async (laid, [id = '', text = '']) =>
    wrote(await engine.recordCause(worldOf(laid), id, text)),
  reap: async (laid, [id = '', finding = '', observedAt = '']) =>
    reaped(await engine.reap(worldOf(laid), id, finding, observedAt)),
  classify: async (_, [text = '']) => said(await engine.classify(text)),
  cause: async (laid, [path = '']) => said(await engine.cause(worldOf(laid), path)),
};

/** Options whose names differ: recorded -> ours. */
const OPTIONS: Record<string, string> = { '--poll': '--poll-interval', '--tail': '--tail-chars' };

export async function makeCall(laid: LaidOut, call: readonly string[]): Promise<Made> {
  const [name = '', ...args] = call;
  const verb = VERBS[name];
  if (!verb) throw new Error(`a call that is not known: ${name}`);
  return verb(laid, args);
}

/** `--ids-json` lists whose items are not all texts: no command line can say them. */
export function holdsNonText(args: readonly string[]): boolean {
  return idsOf(args)?.some((id) => typeof id !== 'string') ?? false;
}

export async function cliWait(laid: LaidOut, args: readonly string[]): Promise<Made> {
  const ids = idsOf(args);
  const line = ids ? [...renamed(args.slice(2)), '--', ...ids.map(String)] : renamed(args);
  return answered(await askMachine(laid, ['job', 'wait', '--machine', ...line]), (answer, recorded) =>
    answer.ok
      ? [...answer.problems, ...compareWait(answer.data, recorded)]
      : [...answer.problems, `not ok: ${shown(answer.error)}`],
  );
}

async function engineWait(laid: LaidOut, args: readonly string[]): Promise<Made> {
  const began = performance.now();
  const ids: unknown[] = JSON.parse(args[1] ?? '[]');
  const data = parseJsonObject(
    JSON.stringify(await engine.wait(worldOf(laid), ids, waitOptions(args.slice(2)))),
  );
  const compare = (recorded: Expected) =>
    isExpectedObject(recorded) ? compareWait(data, recorded) : ['a recorded wait that is no object'];
  return { ms: performance.now() - began, compare };
}

function waitOptions(args: readonly string[]): EngineWaitOptions {
  const options: EngineWaitOptions = {};
  for (let index = 0; index < args.length; index += 2) {
    const value = args[index + 1] ?? '';
    const asked = Number.isNaN(Number(value)) ? value : Number(value);
    if (args[index] === '--max-wait') options.maxWait = asked;
    else options.pollInterval = asked;
  }
  return options;
}

function idsOf(args: readonly string[]): Json[] | null {
  if (args[0] !== '--ids-json') return null;
  const ids = parseJson(args[1] ?? '');
  if (!Array.isArray(ids)) throw new Error('ids that are no list');
  return ids;
}

function renamed(args: readonly string[]): string[] {
  return args.map((arg) => OPTIONS[arg] ?? arg);
}

function answered(answer: Answer, compare: (answer: Answer, recorded: ExpectedObject) => string[]): Made {
  return { ms: answer.ms, compare: (recorded) => compareAnswer(answer, recorded, compare) };
}

function compareAnswer(
  answer: Answer,
  recorded: Expected,
  compare: (answer: Answer, recorded: ExpectedObject) => string[],
): string[] {
  if (recorded instanceof ErrorEnvelope) return compareError(answer, recorded.kind);
  return isExpectedObject(recorded)
    ? compare(answer, recorded)
    : [`a recording that is no object: ${shown(recorded)}`];
}

function listed(answer: Answer): Made {
  const compare = (recorded: Expected) => {
    if (recorded instanceof ErrorEnvelope) return compareError(answer, recorded.kind);
    return Array.isArray(recorded)
      ? compareRows(answer, recorded)
      : [`recorded rows that are no list: ${shown(recorded)}`];
  };
  return { ms: answer.ms, compare };
}

function wrote(answer: WriterAnswer): Made {
  return comparedWithRecord(answer.recordText, { state: answer.state, refused: answer.refused });
}

function reaped(answer: ReapAnswer): Made {
  return comparedWithRecord(answer.recordText, {
    won_transition: answer.won_transition,
    reason: answer.reason,
  });
}

function comparedWithRecord(recordText: string | null, rest: Record<string, Json>): Made {
  const compare = (recorded: Expected) => {
    if (!isExpectedObject(recorded))
      return [`a recorded writer's answer that is no object: ${shown(recorded)}`];
    const record = recordText === null ? null : parseJson(recordText);
    const others = new Map([...recorded].filter(([key]) => key !== 'record'));
    return [
      ...compareRecord(record, recorded.get('record') ?? null).map((problem) => `record ${problem}`),
      ...mismatches(new Map(Object.entries(rest)), others),
    ];
  };
  return { ms: 0, compare };
}

function said(answer: unknown): Made {
  return { ms: 0, compare: (recorded) => mismatches(parseJson(JSON.stringify(answer)), recorded) };
}

function worldOf(laid: LaidOut) {
  return { env: laid.world.env, cwd: laid.world.cwd };
}
