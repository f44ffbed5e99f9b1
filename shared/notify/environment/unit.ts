/**
 * What a service of systemd gets from its own definition, by the rules of systemd.exec(5) and systemd.syntax(7):
 * words of `Environment=` in `[Service]`, quoted, escaped and with specifiers; an empty one forgets those before.
 *
 * @param texts the unit, then its drop-ins in their order
 * @param specifiers by letter, as `h`; an assignment with an unknown one does not count
 */
export function environmentOfUnit(
  texts: readonly string[],
  specifiers: Readonly<Record<string, string>>,
): Record<string, string> {
  let variables: Record<string, string> = {};
  for (const line of texts.flatMap(environmentLines)) {
    if (line === '') variables = {};
    for (const word of wordsOf(line)) {
      const [, name, text = ''] = ASSIGNMENT.exec(word) ?? [];
      const value = expand(text, specifiers);
      if (name !== undefined && value !== null) variables[name] = value;
    }
  }
  return variables;
}

const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/;

function environmentLines(text: string): string[] {
  let section = '';
  const values: string[] = [];
  for (const line of logicalLines(text)) {
    section = /^\[(.*)\]$/.exec(line)?.[1] ?? section;
    const value = /^Environment\s*=\s*(.*)$/.exec(line)?.[1];
    if (section === 'Service' && value !== undefined) values.push(value);
  }
  return values;
}

/** A line that ends in a backslash goes on in the next; comments in between do not end it. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let begun = '';
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (/^[#;]/.test(line)) continue;
    const goesOn = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
    begun += goesOn ? `${line.slice(0, -1)} ` : line;
    if (goesOn) continue;
    lines.push(begun.trim());
    begun = '';
  }
  return begun === '' ? lines : [...lines, begun.trim()];
}

const PIECE = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|((?:\\.|[^\s"'\\])+)/y;

/** As far as the line is well formed. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let at = 0;
  while (at < text.length) {
    let word = '';
    while (at < text.length && !/\s/.test(text[at] ?? '')) {
      PIECE.lastIndex = at;
      const piece = PIECE.exec(text);
      const plain = piece === null ? null : unescaped(piece[1] ?? piece[2] ?? piece[3] ?? '');
      if (plain === null) return words;
      word += plain;
      at = PIECE.lastIndex;
    }
    if (word !== '') words.push(word);
    at++;
  }
  return words;
}

const ESCAPE = /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)/g;
const LETTERS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  s: ' ',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

/** Octal and `\x` escapes are bytes of UTF-8; null where an escape is none. */
function unescaped(text: string): string | null {
  let valid = true;
  const bytes = Buffer.from(text).toString('latin1');
  const plain = bytes.replace(ESCAPE, (_whole, code: string) => {
    if (code.length === 1) {
      valid &&= code in LETTERS;
      return LETTERS[code] ?? '';
    }
    if (code.startsWith('x')) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (!/^u/i.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
    const point = Number.parseInt(code.slice(1), 16);
    valid &&= point <= 0x10ffff;
    return valid ? Buffer.from(String.fromCodePoint(point)).toString('latin1') : '';
  });
  return valid ? Buffer.from(plain, 'latin1').toString('utf8') : null;
}

/** Null where a specifier is not known. */
function expand(text: string, specifiers: Readonly<Record<string, string>>): string | null {
  let known = true;
  const expanded = text.replace(/%(.)/g, (_whole, letter: string) => {
    if (letter === '%') return '%';
    known &&= letter in specifiers;
    return specifiers[letter] ?? '';
  });
  return known ? expanded : null;
}
