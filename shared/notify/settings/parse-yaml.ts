import { Composer, type CST, type Document, Lexer, Parser } from 'yaml';
import type { Setting } from './value.ts';
import { settingOf } from './yaml-values.ts';

/**
 * The one YAML document of a settings file as PyYAML's `safe_load` reads it (design 7); null for an empty
 * file. The grammar is the yaml package's; what scalars, tags and keys mean is ours.
 * @throws Error on anything `safe_load` refuses, and where the text nests deeper than the stack.
 */
export function parseSettingsYaml(text: string): Setting {
  const normal = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?|\x85/g, '\n');
  if (NOT_PRINTABLE.test(normal)) throw new Error('a character YAML does not allow');
  const [document, second] = [...composer().compose(tokens(normal), true, normal.length)];
  if (document === undefined || second !== undefined) throw new Error('not one document');
  if (document.errors[0] !== undefined) throw document.errors[0];
  return settingOf((document as Document).contents, normal);
}

const NOT_PRINTABLE = /[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** `failsafe` leaves every scalar the text it was; source tokens tell a `?` key from a simple one. */
function composer(): Composer {
  return new Composer({
    version: '1.1',
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    keepSourceTokens: true,
  });
}

/** Two things the yaml package lets pass: a tab between tokens, and a YAML version that is not 1.x. */
function* tokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    if (/^[ \t]*\t[ \t]*$/.test(lexeme)) throw new Error('a tab between tokens');
    if (/^%YAML[ \t]+(?!1\.)/.test(lexeme)) throw new Error('not YAML 1');
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}
