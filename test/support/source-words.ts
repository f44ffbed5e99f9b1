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
