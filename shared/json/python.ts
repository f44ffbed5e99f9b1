import { type Json, JsonNumber } from './value.ts';

/**
 * Equality as the Python writers have it: `1`, `true` and `1.0` are equal, key order does not count.
 * A write that would change nothing by this measure is not made.
 */
export function pyEqual(left: Json | undefined, right: Json | undefined): boolean {
  const a = numeric(left);
  const b = numeric(right);
  if (a !== null || b !== null) return a !== null && b !== null && sameNumber(a, b);
  if (Array.isArray(left)) return Array.isArray(right) && sameList(left, right);
  if (left instanceof Map) return right instanceof Map && sameMap(left, right);
  return left === right;
}

/** Truth as Python has it: empty text, lists and objects, zero and null are false. */
export function pyTruthy(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (value instanceof JsonNumber) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : true;
}

const FLOAT_TEXT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;

/** A number or numeric text as Python's `float` reads it; null where that would fail or not be finite. */
export function pyFloat(value: Json | undefined): number | null {
  if (value instanceof JsonNumber) return finite(value.value);
  if (typeof value !== 'string') return null;
  const text = inAscii(value).replace(/^[\t-\r ]+|[\t-\r ]+$/g, '');
  return FLOAT_TEXT.test(text) ? finite(Number(text.replaceAll('_', ''))) : null;
}

/** Blanks that Python strips beside those of C, and not the BOM that JavaScript trims. */
const BLANK = /[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;

/** As Python reads a number: the digits and blanks of any script, but in pure ASCII only the blanks of C. */
function inAscii(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text;
  return text.replace(BLANK, ' ').replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** Digits stand in the tables of Unicode in runs of ten, from 0. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return (code - first) % 10;
}

function finite(number: number): number | null {
  return Number.isFinite(number) ? number : null;
}

function numeric(value: Json | undefined): JsonNumber | null {
  if (value instanceof JsonNumber) return value;
  return typeof value === 'boolean' ? new JsonNumber(value ? '1' : '0') : null;
}

/** Exact, also between an integer and a double. */
function sameNumber(a: JsonNumber, b: JsonNumber): boolean {
  if (a.isInteger && b.isInteger) return BigInt(a.text) === BigInt(b.text);
  if (a.isInteger === b.isInteger) return a.value === b.value;
  const [integer, double] = a.isInteger ? [a, b] : [b, a];
  return Number.isInteger(double.value) && BigInt(integer.text) === BigInt(double.value);
}

/** Python's json gives one NaN for all, and within a list or an object what is the same is equal. */
function sameItem(left: Json, right: Json | undefined): boolean {
  return (isNaNumber(left) && isNaNumber(right)) || pyEqual(left, right);
}

function isNaNumber(value: Json | undefined): boolean {
  return value instanceof JsonNumber && Number.isNaN(value.value);
}

function sameList(left: Json[], right: Json[]): boolean {
  return left.length === right.length && left.every((item, index) => sameItem(item, right[index]));
}

function sameMap(left: Map<string, Json>, right: Map<string, Json>): boolean {
  return (
    left.size === right.size &&
    [...left].every(([key, item]) => right.has(key) && sameItem(item, right.get(key)))
  );
}
