import { type Json, JsonNumber } from './json-tree.ts';

/** The text Python's `json.dumps(value, indent=2)` writes: ASCII, keys in their order, numbers as they stand. */
export function writePythonJson(value: Json): string {
  return written(value, '\n');
}

function written(value: Json, newline: string): string {
  if (value instanceof JsonNumber) return value.text;
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) {
    const inner = `${newline}  `;
    return bracketed(
      '[',
      ']',
      value.map((item) => written(item, inner)),
      newline,
    );
  }
  if (value instanceof Map) {
    const inner = `${newline}  `;
    const members = [...value].map(([key, item]) => `${quoted(key)}: ${written(item, inner)}`);
    return bracketed('{', '}', members, newline);
  }
  return String(value);
}

function bracketed(open: string, close: string, items: string[], newline: string): string {
  if (items.length === 0) return open + close;
  const inner = `${newline}  `;
  return open + inner + items.join(`,${inner}`) + newline + close;
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A double as Python writes it, for the sizes that times have. */
export function pythonFloat(value: number): string {
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-4 || size >= 1e16)) throw new Error(`not the size of a time: ${value}`);
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
