/**
 * JSON as other writers left it. A record is rewritten beside programs that tell `1` from `1.0` and keep
 * integers past 2^53, so a number is its text and an object keeps every key in place (`JSON.parse` moves
 * integer-like keys, swallows `__proto__` and rounds).
 */
export class JsonNumber {
  constructor(readonly text: string) {}

  /** Nearest double; NaN and the infinities included. */
  get value(): number {
    return Number(this.text);
  }

  get isInteger(): boolean {
    return /^-?\d+$/.test(this.text);
  }
}

export type JsonObject = Map<string, Json>;
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

/** What code of ours hands over: plain values and records' own values side by side. */
export type Jsonable = undefined | number | Json | readonly Jsonable[] | { readonly [key: string]: Jsonable };

export function isObject(value: Json | undefined): value is JsonObject {
  return value instanceof Map;
}

/** Plain numbers, arrays and objects become lossless values; `undefined` members are left out. */
export function toJson(value: Jsonable): Json {
  if (typeof value === 'number') return new JsonNumber(Number.isNaN(value) ? 'NaN' : String(value));
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object' || value instanceof JsonNumber) return value;
  if (Array.isArray(value)) return value.map(toJson);
  const entries = value instanceof Map ? [...value.entries()] : Object.entries(value);
  return new Map(
    entries
      .filter((entry) => entry[1] !== undefined)
      .map(([key, member]) => [key, toJson(member as Jsonable)]),
  );
}
