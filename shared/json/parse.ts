import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
import { type Json, JsonNumber, type JsonObject } from './value.ts';

/** Python refuses deeper nesting; a record it cannot read is not one we should write. */
const MAX_DEPTH = 990;
/** Python's own bound on the digits of an integer. */
const MAX_INTEGER_DIGITS = 4300;

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** Where a member of the outermost object stands in its text: half-open offsets in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** An object's text with what is needed to change some members and leave every other byte alone. */
export interface ObjectText {
  readonly text: string;
  readonly value: JsonObject;
  /** Of a key given twice the last value counts, so the span is the last one's. */
  readonly spans: ReadonlyMap<string, Span>;
  /** In order of the text, duplicates included. */
  readonly keys: readonly Span[];
}

/** @throws JsonSyntaxError for what Python's `json.loads` refuses (it reads NaN and the infinities). */
export function parseJson(text: string): Json {
  return new Reader(text).read().root;
}

/** The outermost object with its spans, or null where the text is JSON of another shape. */
export function parseObjectText(text: string): ObjectText | null {
  const { root, spans, keys } = new Reader(text).read();
  return root instanceof Map ? { text, value: root, spans, keys } : null;
}

/** Texts are passed over in one run of their plain parts: a backtracking pattern takes seconds on a hostile one. */
const NON_FINITE = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|(?<![\w.+-])(?:-?Infinity|NaN)(?![\w.+-])/gs;

/** Numbers of the same length stand in for the tokens the parser does not know; offsets stay true. */
function maskNonFinite(text: string): string {
  if (!text.includes('NaN') && !text.includes('Infinity')) return text;
  return text.replace(NON_FINITE, (token) => {
    if (token.startsWith('"')) return token;
    const sign = token.startsWith('-') ? '-' : '';
    return `${sign}0.`.padEnd(token.length, '0');
  });
}

class Reader {
  readonly #spans = new Map<string, Span>();
  readonly #keys: Span[] = [];
  readonly #open: { container: Json[] | JsonObject; start: number; key: string }[] = [];
  #root: Json | undefined;
  #key = '';

  constructor(readonly text: string) {}

  read(): { root: Json; spans: Map<string, Span>; keys: Span[] } {
    visit(
      maskNonFinite(this.text),
      {
        onObjectBegin: (offset) => this.#begin(new Map(), offset),
        onArrayBegin: (offset) => this.#begin([], offset),
        onObjectEnd: (offset, length) => this.#end(offset + length),
        onArrayEnd: (offset, length) => this.#end(offset + length),
        onObjectProperty: (name, offset, length) => this.#property(name, offset, length),
        onLiteralValue: (value, offset, length) => this.#literal(value, offset, offset + length),
        onError: (code, offset) => this.#fail(code, offset),
      },
      { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
    );
    if (this.#root === undefined) throw new JsonSyntaxError('no value');
    return { root: this.#root, spans: this.#spans, keys: this.#keys };
  }

  #begin(container: Json[] | JsonObject, start: number): void {
    if (this.#open.length >= MAX_DEPTH) throw new JsonSyntaxError(`nested deeper than ${MAX_DEPTH}`);
    this.#open.push({ container, start, key: this.#key });
  }

  #end(end: number): void {
    const done = this.#open.pop();
    if (done === undefined) return;
    this.#key = done.key;
    this.#add(done.container, done.start, end);
  }

  #property(name: string, offset: number, length: number): void {
    this.#key = name;
    if (this.#open.length === 1) this.#keys.push({ start: offset, end: offset + length });
  }

  #literal(value: unknown, start: number, end: number): void {
    this.#add(typeof value === 'number' ? this.#number(start, end) : (value as Json), start, end);
  }

  #number(start: number, end: number): JsonNumber {
    const number = new JsonNumber(this.text.slice(start, end));
    if (number.isInteger && number.text.replace('-', '').length > MAX_INTEGER_DIGITS) {
      throw new JsonSyntaxError(`an integer of more than ${MAX_INTEGER_DIGITS} digits`);
    }
    return number;
  }

  #add(value: Json, start: number, end: number): void {
    const parent = this.#open.at(-1)?.container;
    if (parent === undefined) this.#root = value;
    else if (Array.isArray(parent)) parent.push(value);
    else parent.set(this.#key, value);
    if (this.#open.length === 1 && parent instanceof Map) this.#spans.set(this.#key, { start, end });
  }

  #fail(code: ParseErrorCode, offset: number): never {
    throw new JsonSyntaxError(`${printParseErrorCode(code)} at ${offset}`);
  }
}
