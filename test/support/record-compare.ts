import { type Expected, Matcher } from './expected.ts';
import { type Json, JsonNumber, parseJson, topLevelTexts } from './json-tree.ts';

export interface Comparing {
  /** Whether a key that was not recorded may stand in the object at this path. Default: no key may. */
  mayAdd?: (path: readonly string[], key: string) => boolean;
  /** Recorded keys must come in the recorded order. Default: any order. */
  inOrder?: boolean;
  /** `600.0` may come as `600`, as JavaScript writes it. Default: it may not. */
  wholeFloatsAsIntegers?: boolean;
}

/** Everything in which `actual` is not what was recorded, one line each; none: they agree. */
export function mismatches(
  actual: Json | undefined,
  expected: Expected,
  comparing: Comparing = {},
  path: readonly string[] = [],
): string[] {
  const at = `/${path.join('/')}`;
  if (expected instanceof Matcher) {
    const problem = expected.problem(actual);
    return problem === null ? [] : [`${at}: ${problem}, found ${shown(actual)}`];
  }
  if (expected instanceof Map && actual instanceof Map)
    return objectMismatches(actual, expected, comparing, path);
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const lengths =
      actual.length === expected.length
        ? []
        : [`${at}: ${expected.length} items wanted, ${actual.length} found`];
    return lengths.concat(
      expected.flatMap((item, index) => mismatches(actual[index], item, comparing, [...path, String(index)])),
    );
  }
  return sameScalar(actual, expected, comparing)
    ? []
    : [`${at}: wanted ${shown(expected)}, found ${shown(actual)}`];
}

/** Python's equality of one JSON number with another, but for kinds: `1` is not `1.0`. */
export function sameNumber(a: JsonNumber, b: JsonNumber): boolean {
  if (isInteger(a) !== isInteger(b)) return false;
  if (isInteger(a)) return BigInt(a.text) === BigInt(b.text);
  const [x, y] = [Number(a.text), Number(b.text)];
  return Number.isFinite(x) && Number.isFinite(y) ? Object.is(x, y) : a.text === b.text;
}

/**
 * A rewrite changes only what it means to change: each value of the record that reads the same after as
 * before must have the same text, blanks and escapes included.
 */
export function rewrittenWithoutNeed(before: string, after: string): string[] {
  const olds = topLevelTexts(before);
  const news = topLevelTexts(after);
  const problems: string[] = [];
  for (const [key, old] of olds) {
    const now = news.get(key);
    if (now === undefined || now === old) continue;
    if (mismatches(parseJson(now), parseJson(old), { inOrder: true }).length === 0)
      problems.push(`/${key}: not changed, but written anew: ${old.slice(0, 120)} -> ${now.slice(0, 120)}`);
  }
  return problems;
}

export function shown(value: Expected | undefined): string {
  const text = JSON.stringify(plain(value)) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}... (${text.length})` : text;
}

function objectMismatches(
  actual: Map<string, Json>,
  expected: Map<string, Expected>,
  comparing: Comparing,
  path: readonly string[],
): string[] {
  const at = `/${path.join('/')}`;
  const problems = [...expected].flatMap(([key, value]) =>
    mismatches(actual.get(key), value, comparing, [...path, key]),
  );
  for (const key of actual.keys()) {
    if (!expected.has(key) && !comparing.mayAdd?.(path, key))
      problems.push(`${at}: not recorded: ${key} = ${shown(actual.get(key))}`);
  }
  if (comparing.inOrder) {
    const found = [...actual.keys()].filter((key) => expected.has(key));
    const wanted = [...expected.keys()].filter((key) => actual.has(key));
    if (found.join('\n') !== wanted.join('\n'))
      problems.push(`${at}: keys in order ${found}, wanted ${wanted}`);
  }
  return problems;
}

function sameScalar(actual: Json | undefined, expected: Expected, comparing: Comparing): boolean {
  if (!(expected instanceof JsonNumber) || !(actual instanceof JsonNumber)) return actual === expected;
  if (sameNumber(actual, expected)) return true;
  return Boolean(comparing.wholeFloatsAsIntegers) && `${actual.text}.0` === expected.text;
}

function isInteger(number: JsonNumber): boolean {
  return /^-?[0-9]+$/.test(number.text);
}

function plain(value: Expected | undefined): unknown {
  if (value instanceof JsonNumber) return `#${value.text}`;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
  if (value !== null && typeof value === 'object') return `<${value.constructor.name}>`;
  return value;
}
