import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The texts that a type of this name allows, as its source names them, references to types elsewhere left out. */
export function literalsOf(file: string, type: string): string[] {
  const found: string[] = [];
  walk(sourceOf(file), (node) => {
    const isIt =
      (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) && node.name.text === type;
    if (isIt) walk(node, (inner) => pushLiteral(inner, found));
  });
  if (found.length === 0) throw new Error(`no ${type} in ${file}`);
  return found;
}

/** The `code` of every object in these directories that also says a cause and a cure: a degradation. */
export function degradationCodes(): string[] {
  const files = ['daemon', 'shared/daemon'].flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(directory, name)),
  );
  const codes = files.flatMap((file) => {
    const found: string[] = [];
    walk(sourceOf(file), (node) => {
      if (!ts.isObjectLiteralExpression(node)) return;
      const values = new Map(
        node.properties
          .filter(ts.isPropertyAssignment)
          .map((each) => [each.name.getText(), each.initializer]),
      );
      const code = values.get('code');
      if (code !== undefined && ts.isStringLiteral(code) && values.has('cure')) found.push(code.text);
    });
    return found;
  });
  return [...new Set(codes)].sort();
}

function pushLiteral(node: ts.Node, found: string[]): void {
  if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) found.push(node.literal.text);
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

const SAYING =
  /^(code|reason|reasonCode|reason_code|why|skipped|error|terminal_source|refusal|refused|result|step|unverified_reason)$/;
const CALLED = /^(unavailable|failed|park|parked|parkedDelivery|refused|sent|unusable|mute|nothing)$/;

/**
 * Words that the engine gives as a code of something: values of members named so, entries of a record's members
 * named so, and arguments of the functions that make such members.
 */
export function spokenCodes(): string[] {
  const files = readdirSync(join(ROOT, 'shared'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('shared', name));
  const found = files.flatMap((file) => {
    const words: string[] = [];
    walk(sourceOf(file), (node) => words.push(...codesAt(node)));
    return words;
  });
  return [...new Set(found.filter((word) => /^[a-z]+(_[a-z0-9]+)+$/.test(word)))].sort();
}

function codesAt(node: ts.Node): string[] {
  if (ts.isPropertyAssignment(node) && SAYING.test(node.name.getText())) return textsIn(node.initializer);
  if (ts.isCallExpression(node) && CALLED.test(node.expression.getText()))
    return node.arguments.flatMap(textsIn);
  const [key, value] = ts.isArrayLiteralExpression(node) ? node.elements : [];
  const isEntry =
    key !== undefined && value !== undefined && ts.isStringLiteral(key) && SAYING.test(key.text);
  return isEntry ? textsIn(value) : [];
}

/** The numbers of constants named `EX_...`, and of the table of `lion` from error kinds to exit statuses. */
export function exitStatuses(places: readonly string[]): string[] {
  const files = places.flatMap((place) => {
    if (place.endsWith('.ts')) return [place];
    const below = readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' });
    return below.filter((name) => name.endsWith('.ts')).map((name) => join(place, name));
  });
  const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const named = texts.flatMap((text) =>
    [...text.matchAll(/\bEX_[A-Z_]+ = (\d+)/g)].map(([, number = '']) => number),
  );
  const kinds = texts.flatMap((text) => /EXIT_CODES[^{]*\{([^}]*)\}/.exec(text)?.[1]?.match(/\d+/g) ?? []);
  return [...new Set([...named, ...kinds])];
}

/** Every word with an underscore in the sources. */
export function sourceWords(): Set<string> {
  const files = ['shared', 'cli', 'daemon'].flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(ROOT, directory, name)),
  );
  return new Set(files.flatMap((file) => readFileSync(file, 'utf8').match(/[a-z]+(?:_[a-z0-9]+)+/g) ?? []));
}

/** Of a text, or of a choice between texts. */
function textsIn(node: ts.Expression): string[] {
  if (ts.isStringLiteral(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...textsIn(node.whenTrue), ...textsIn(node.whenFalse)];
  if (ts.isBinaryExpression(node)) return [...textsIn(node.left), ...textsIn(node.right)];
  return [];
}
