import type { Jsonable } from './json/value.ts';
import { JsonNumber, toJson } from './json/value.ts';
import { LINE_STYLE, writeJson } from './json/write.ts';
import { isPairAt } from './output/last-chars.ts';

/**
 * Records and labels come from elsewhere: control characters, and those that turn text about, are shown as
 * escapes and never reach the terminal.
 */
export function printable(value: Jsonable): string {
  if (value === null || value === undefined) return '';
  if (value instanceof JsonNumber) return value.text;
  const text = typeof value === 'string' ? value : writeJson(toJson(value), LINE_STYLE);
  return text.replace(UNPRINTABLE, escapeUnit);
}

/** As above, keeping line ends and tabs: for text that is shown as a block, piece by piece, however long it is. */
export function printableBlock(text: string): string {
  let shown = '';
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_CHARS - (isPairAt(text, at + PIECE_CHARS - 1) ? 1 : 0);
    shown += printablePiece(text.slice(at, end));
    at = end;
  }
  return shown;
}

/** A replacement keeps a list of all it finds. */
const PIECE_CHARS = 65_536;

function printablePiece(text: string): string {
  return text.replace(UNPRINTABLE, (unit) => (unit === '\n' || unit === '\t' ? unit : escapeUnit(unit)));
}

const UNPRINTABLE = /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

function escapeUnit(unit: string): string {
  const code = unit.codePointAt(0) ?? 0;
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
}
