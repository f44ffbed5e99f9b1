/**
 * JSON as Python's `json.loads` reads it, without losing anything: a number keeps its text, an object keeps
 * the order of its keys (of duplicates the first place and the last value), NaN and Infinity are numbers.
 * It is the tests' own reader, so that the engine's is never judged by itself.
 */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

export function parseJson(text: string): Json {
  return new Reader(text, () => {}).document();
}

export function parseJsonObject(text: string): JsonObject {
  const value = parseJson(text);
  if (!(value instanceof Map)) throw new Error(`not a JSON object: ${text.slice(0, 200)}`);
  return value;
}

/** The text of each value of the outermost object, exactly as written. */
export function topLevelTexts(text: string): Map<string, string> {
  const texts = new Map<string, string>();
  new Reader(text, (depth, key, start, end) => {
    if (depth === 1) texts.set(key, text.slice(start, end));
  }).document();
  return texts;
}

type OnMember = (depth: number, key: string, start: number, end: number) => void;

const NUMBER = /-?(?:Infinity|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|NaN/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const WORDS: [string, Json][] = [
  ['null', null],
  ['true', true],
  ['false', false],
];
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class Reader {
  private readonly text: string;
  private readonly onMember: OnMember;
  private at = 0;
  private depth = 0;

  constructor(text: string, onMember: OnMember) {
    this.text = text;
    this.onMember = onMember;
  }

  document(): Json {
    this.blanks();
    const value = this.value();
    this.blanks();
    if (this.at !== this.text.length) this.fail('end of text');
    return value;
  }

  private value(): Json {
    const first = this.text[this.at];
    if (first === '{') return this.object();
    if (first === '[') return this.array();
    if (first === '"') return this.string();
    for (const [word, value] of WORDS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    return new JsonNumber(this.match(NUMBER, 'a value'));
  }

  private object(): JsonObject {
    const object: JsonObject = new Map();
    this.items('{', '}', () => {
      const key = this.string();
      this.blanks();
      this.take(':');
      this.blanks();
      const start = this.at;
      object.set(key, this.value());
      this.onMember(this.depth, key, start, this.at);
    });
    return object;
  }

  private array(): Json[] {
    const array: Json[] = [];
    this.items('[', ']', () => array.push(this.value()));
    return array;
  }

  private items(open: string, close: string, item: () => void): void {
    this.take(open);
    this.depth += 1;
    this.blanks();
    while (this.text[this.at] !== close) {
      item();
      this.blanks();
      if (this.text[this.at] === close) break;
      this.take(',');
      this.blanks();
      if (this.text[this.at] === close) this.fail('a value after the comma');
    }
    this.take(close);
    this.depth -= 1;
  }

  private string(): string {
    this.take('"');
    let string = '';
    for (;;) {
      string += this.match(PLAIN, 'text');
      if (this.text[this.at] !== '\\') break;
      string += this.escape();
    }
    this.take('"');
    return string;
  }

  private escape(): string {
    const letter = this.text[this.at + 1] ?? '';
    if (letter === 'u') {
      const hex = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.fail('four hex digits');
      this.at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const meant = ESCAPES[letter];
    if (meant === undefined) this.fail('an escape');
    this.at += 2;
    return meant ?? '';
  }

  private match(pattern: RegExp, wanted: string): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return this.fail(wanted);
    this.at += found[0].length;
    return found[0];
  }

  private take(mark: string): void {
    if (this.text[this.at] !== mark) this.fail(mark);
    this.at += 1;
  }

  private blanks(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  private fail(wanted: string): never {
    throw new Error(`JSON: wanted ${wanted} at ${this.at}: ${this.text.slice(this.at, this.at + 40)}`);
  }
}
