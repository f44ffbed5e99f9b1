import ts from 'typescript';

/**
 * Places in a source where something is decided by comparing with 'exited', each as `line: text`. The word is
 * also how a child process ended (`kind`), which decides nothing about a run; assertions compare nothing.
 */
export function exitedComparisons(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.ES2023, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (decidesByExited(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      found.push(`${line + 1}: ${node.getText(file).slice(0, 120)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const EQUALITIES = new Set([
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
]);
const MEMBERSHIPS = new Set(['includes', 'has', 'indexOf', 'startsWith', 'endsWith', 'localeCompare', 'is']);

function decidesByExited(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node) && EQUALITIES.has(node.operatorToken.kind)) {
    return isSplit(node.left, node.right) || isSplit(node.right, node.left);
  }
  if (ts.isCaseClause(node) && isExited(node.expression)) return !isKind(node.parent.parent.expression);
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (!MEMBERSHIPS.has(name.text)) return false;
  return node.arguments.some(isExited) || (holdsExited(expression) && name.text !== 'startsWith');
}

function isSplit(word: ts.Node, other: ts.Node): boolean {
  return isExited(word) && !isKind(other);
}

function isExited(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) && node.text === 'exited';
}

/** `['exited', ...].includes(x)`, `new Set(['exited']).has(x)`. */
function holdsExited(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return node.arguments?.some(holdsExited) ?? false;
  return ts.isArrayLiteralExpression(node) && node.elements.some(isExited);
}

/** `kind` is how a child process ended, never what a record says of a run. */
function isKind(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && node.name.text === 'kind';
}

/** The same for the Python programs of the tests. */
export function exitedComparisonsInPython(source: string): string[] {
  return source
    .split('\n')
    .map((line, at) => `${at + 1}: ${line.trim()}`)
    .filter((line) =>
      /(==|!=|\bin\b|\bis\b)\s*[([{]?[^#=]*["']exited["']|["']exited["']\s*(==|!=|\bin\b)/.test(line),
    );
}
