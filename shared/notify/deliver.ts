import type { Engine } from '../engine.ts';
import { errnoOf } from '../errno.ts';
import { type JsonObject, toJson } from '../json/value.ts';
import { LINE_STYLE, writeJson } from '../json/write.ts';
import { runChild } from '../process/run-child.ts';
import { isStartable } from '../process/startable.ts';
import type { Outcome } from '../run/derive.ts';
import { classifyFailure } from './failure-class.ts';
import type { Notifier } from './notifier.ts';
import { substitute } from './substitute.ts';

/** Enough of a notifier's words to sort a failure; the words are dropped after that. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

export interface Notice {
  /** In order: the fields substituted into the command and offered as JSON on its standard input. */
  readonly fields: Readonly<Record<string, string>>;
  /** What became of the run; null: it is about none. */
  readonly outcome: Outcome | null;
  /** Stable over every attempt at this end's notice. */
  readonly deliveryId: string;
  readonly attempt: number;
}

export interface DeliveryResult {
  readonly delivery: JsonObject;
  /** `definite`: it did not arrive and may be tried again; `fault`: it never can with this configuration. */
  readonly failure: null | 'definite' | 'fault' | 'unknown';
}

/** Runs the notifier once and says how it went, in the words of the record. Never throws. */
export async function deliver(
  engine: Engine,
  notifier: Extract<Notifier, { kind: 'command' }>,
  notice: Notice,
): Promise<DeliveryResult> {
  const argv = substitute(notifier.template, notice.fields);
  const program = notifier.template[0] ?? '';
  const env = environmentOf(engine, notifier.sender, notice);
  if (argv[0] === '') return notStarted('PermissionError', program);
  if (!isStartable(argv[0] ?? '', notifier.cwd, env.PATH)) return notStarted('OSError', program);
  const result = await runChild({
    program: argv[0] ?? '',
    args: argv.slice(1),
    cwd: notifier.cwd,
    env,
    stdin: writeJson(
      toJson({
        ...notice.fields,
        outcome: notice.outcome,
        delivery_id: notice.deliveryId,
        attempt: notice.attempt,
      }),
      STDIN_STYLE,
    ),
    timeoutMs: engine.config.notify.timeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    overflow: 'drop',
    signal: engine.signal,
  });
  switch (result.kind) {
    case 'not_started':
      return notStarted(pythonName(result.error), program);
    case 'ended':
      return result.why === 'aborted' ? interrupted(program) : timedOut(program);
    case 'exited': {
      const words = `${result.stderr.toString('utf8')}\n${result.stdout.toString('utf8')}`;
      return exited(result.exitCode, words, argv, program);
    }
  }
}

/** As Python's `json.dumps` spaces it. */
const STDIN_STYLE = { ...LINE_STYLE, colon: ': ', comma: ', ' };

function environmentOf(engine: Engine, sender: string, notice: Notice): Record<string, string | undefined> {
  return {
    ...engine.env,
    LIONAGI_NOTIFY_DELIVERY_ID: notice.deliveryId,
    LIONAGI_NOTIFY_ATTEMPT: String(notice.attempt),
    ...(sender === '' ? {} : { LIONAGI_NOTIFY_SENDER: sender }),
  };
}

function pythonName(error: unknown): string {
  switch (errnoOf(error)) {
    case 'ENOENT':
      return 'FileNotFoundError';
    case 'EACCES':
    case 'EPERM':
      return 'PermissionError';
    case 'ENOTDIR':
      return 'NotADirectoryError';
    case 'EAGAIN':
      return 'BlockingIOError';
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_INVALID_ARG_TYPE':
      return 'ValueError';
    default:
      return 'OSError';
  }
}

/** The machine's passing shortage, not a fault of the configuration. */
const PASSING = new Set(['BlockingIOError']);

function notStarted(error: string, program: string): DeliveryResult {
  const delivery = result({ ok: false, exit_code: null, error, failure_class: 'unknown', command: program });
  return { delivery, failure: PASSING.has(error) ? 'definite' : 'fault' };
}

function timedOut(program: string): DeliveryResult {
  const delivery = result({
    ok: false,
    exit_code: null,
    error: 'TimeoutExpired',
    failure_class: 'timeout',
    command: program,
    delivery_verified: false,
    unverified_reason: 'delivery_timed_out',
  });
  return { delivery, failure: 'unknown' };
}

/** We were told to stop while it ran: it may or may not have arrived. */
function interrupted(program: string): DeliveryResult {
  const delivery = result({ ok: null, exit_code: null, error: 'delivery_outcome_unknown', command: program });
  return { delivery, failure: 'unknown' };
}

function exited(exitCode: number, words: string, argv: readonly string[], program: string): DeliveryResult {
  const ok = exitCode === 0;
  const failureClass = ok ? null : classifyFailure(words);
  const unverified = ok ? unverifiedReason(argv) : null;
  const delivery = result({
    ok,
    exit_code: exitCode,
    error: null,
    failure_class: failureClass,
    command: program,
    ...(unverified === null ? {} : { delivery_verified: false, unverified_reason: unverified }),
  });
  return { delivery, failure: ok ? null : 'definite' };
}

function result(fields: Readonly<Record<string, string | number | boolean | null>>): JsonObject {
  return toJson({ attempted: true, ...fields }) as JsonObject;
}

/** The one adapter known to exit 0 although an operation was refused. */
function unverifiedReason(argv: readonly string[]): string | null {
  const program = (argv[0] ?? '').split('/').at(-1);
  const weak = program === 'kkernel' && argv.includes('exec') && !argv.includes('--strict');
  return weak ? 'kkernel_exec_without_strict_exits_zero_on_a_refused_op' : null;
}
