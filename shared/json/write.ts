import { type Json, JsonNumber } from './value.ts';

export interface WriteStyle {
  /** Blanks of one level, or null for one line. */
  readonly indent: string | null;
  readonly colon: string;
  readonly comma: string;
  /** `keep` writes NaN as Python reads it; `text` makes it a string, so that any JSON reader can read it. */
  readonly nonFinite: 'keep' | 'text';
}

/** As the Python writers lay a record out: two blanks a level, ASCII. */
export const RECORD_STYLE: WriteStyle = { indent: '  ', colon: ': ', comma: ',', nonFinite: 'keep' };
/** For pipes: one line, strictly JSON. */
export const LINE_STYLE: WriteStyle = { indent: null, colon: ':', comma: ',', nonFinite: 'text' };

/** ASCII text of a value; `level` is the depth it will stand at when indented. */
export function writeJson(value: Json, style: WriteStyle, level = 0): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quote(value);
  if (value instanceof JsonNumber) return writeNumber(value, style);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => writeJson(item, style, level + 1))
    : [...value].map(([key, item]) => quote(key) + style.colon + writeJson(item, style, level + 1));
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return open + close;
  if (style.indent === null) return open + items.join(style.comma) + close;
  const inner = `\n${style.indent.repeat(level + 1)}`;
  return `${open}${inner}${items.join(`,${inner}`)}\n${style.indent.repeat(level)}${close}`;
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

export function quote(text: string): string {
  return `"${text.replace(/["\\]|[^ -~]/g, escapeUnit)}"`;
}

function escapeUnit(unit: string): string {
  return SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function writeNumber(number: JsonNumber, style: WriteStyle): string {
  const plain = /^-?\d/.test(number.text);
  return plain || style.nonFinite === 'keep' ? number.text : quote(number.text);
}
