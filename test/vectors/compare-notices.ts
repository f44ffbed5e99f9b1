import { type Expected, isExpectedObject, Matcher } from '../support/expected.ts';
import { type Json, type JsonObject, parseJson, parseJsonObject } from '../support/json-tree.ts';
import { mismatches, shown } from '../support/record-compare.ts';
import { bytesOf, type LaidOut } from './lay-out.ts';

/** What ours says beside the recorded, on stdin and in the environment of a notifier. */
const OUR_STDIN_KEYS = ['outcome', 'delivery_id', 'attempt'];
const OUR_VARIABLES = ['LIONAGI_NOTIFY_DELIVERY_ID', 'LIONAGI_NOTIFY_ATTEMPT'];

/** The notifier calls that were made, in order, against the recorded ones. */
export function compareNotices(laid: LaidOut, recorded: Expected): string[] {
  const calls = linesOf(laid.notifierLog).map(parseJsonObject);
  if (recorded instanceof Matcher) return mismatches(calls, recorded, {}, ['notifier']);
  if (!Array.isArray(recorded)) return ['a recording of notices that is no list'];
  if (calls.length !== recorded.length)
    return [
      `${recorded.length} notices wanted, ${calls.length} sent: ${shown(calls.map((call) => call.get('argv') ?? null))}`,
    ];
  return recorded.flatMap((notice, index) => compareNotice(laid, calls[index], notice, index));
}

/** How often `li` was asked. */
export function countLifecycleCalls(laid: LaidOut): number {
  return linesOf(laid.liLog).length;
}

function compareNotice(
  laid: LaidOut,
  call: JsonObject | undefined,
  recorded: Expected,
  index: number,
): string[] {
  if (!call || !isExpectedObject(recorded)) return [`/notifier/${index}: nothing to compare`];
  const at = ['notifier', String(index)];
  const seen = new Map<string, Json>([...call, ...environmentChange(laid, call)]);
  const keys = ['argv', 'cwd', 'own_session', 'env_added', 'env_removed'];
  const problems = keys.flatMap((key) =>
    mismatches(seen.get(key), recorded.get(key) ?? null, {}, [...at, key]),
  );
  return [...problems, ...compareStdin(call.get('stdin'), recorded.get('stdin'), [...at, 'stdin'])];
}

function compareStdin(
  stdin: Json | undefined,
  recorded: Expected | undefined,
  at: readonly string[],
): string[] {
  if (typeof recorded !== 'string' || typeof stdin !== 'string')
    return mismatches(stdin, recorded ?? null, {}, at);
  const mayAdd = (_: readonly string[], key: string) => OUR_STDIN_KEYS.includes(key);
  return mismatches(parseJson(stdin), parseJson(recorded), { inOrder: true, mayAdd }, at);
}

function environmentChange(laid: LaidOut, call: JsonObject): Map<string, Json> {
  const given = laid.world.env;
  const got = call.get('env');
  if (!(got instanceof Map)) throw new Error('a notifier without an environment');
  const added = [...got].filter(([name, value]) => given[name] !== value && !OUR_VARIABLES.includes(name));
  const removed = Object.keys(given).filter((name) => !got.has(name));
  return new Map<string, Json>([
    ['env_added', new Map(added)],
    ['env_removed', removed],
  ]);
}

function linesOf(file: string): string[] {
  return (bytesOf(file)?.toString('utf8') ?? '').split('\n').filter((line) => line !== '');
}
