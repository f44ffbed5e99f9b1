import { split } from 'shlex';

/**
 * The words of a command as Python's `shlex.split` finds them; null where it would raise, on an open quote or
 * a trailing backslash.
 *
 * The shlex package follows bash where Python does not: it reads `$'...'` and `$"..."`, joins lines at a
 * backslash, and unescapes text before a double-quoted part along with it. So quotes and escapes are resolved
 * here and handed to it as single-quoted text, which both read alike.
 */
export function splitWords(command: string): string[] | null {
  if (/[\\'"]/.test(command.replaceAll(PART, ''))) return null;
  return split(command.replaceAll(PART, requote));
}

/** An escaped character, a span in single or in double quotes, or a `$`; what is left of quotes is open. */
const PART = /\\([\s\S])|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\$/g;

function requote(dollar: string, escaped?: string, single?: string, double?: string): string {
  return singleQuoted(escaped ?? single ?? double?.replaceAll(/\\(["\\])/g, '$1') ?? dollar);
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
