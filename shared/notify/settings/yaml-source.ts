import { type CST, isNode, type Node, type Pair, Scalar } from 'yaml';
import { ScalarError } from './yaml-scalars.ts';

/** Where a node stands: some of PyYAML's rules are about how a value was written, not what it is. */
export interface Source {
  readonly text: string;
  readonly inFlow: boolean;
}

/**
 * The text of a scalar as PyYAML reads it. For PyYAML a tab ends an unquoted scalar and begins nothing; in a
 * flow collection so does `?`, and a leading `:` is the indicator.
 * @throws ScalarError on those, which the yaml package lets pass.
 */
export function scalarText(node: Scalar, { text, inFlow }: Source): string {
  if (node.type !== Scalar.PLAIN) return quotedText(node, text);
  const value = String(node.value);
  if (sourceOf(node, text).includes('\t')) throw new ScalarError('a tab in an unquoted scalar');
  if (inFlow && /^:|\?/.test(value)) throw new ScalarError('not one scalar in a flow collection');
  return value;
}

/**
 * In a flow collection PyYAML takes commas, brackets and quotes for part of a tag they touch, so between a tag
 * and what it stands before there must be a space.
 * @throws ScalarError where there is none, or nothing to stand before.
 */
export function checkFlowTag(node: Node, { text, inFlow }: Source): void {
  if (!inFlow || node.tag === undefined) return;
  const [start, end] = rangeOf(node);
  if (start === end || !/\s/.test(text.charAt(start - 1))) throw new ScalarError('a tag of nothing');
}

/**
 * A key without a `?` must be there, and its `:` on the same line and no farther than PyYAML looks back.
 * @throws ScalarError where it is not.
 */
export function checkKeySource(pair: Pair, { text }: Source): void {
  const { start = [], sep = [] } = (pair as { srcToken?: CST.BlockMap['items'][number] }).srcToken ?? {};
  if (start.some(({ type }) => type === 'explicit-key-ind')) return;
  const properties = start.find(({ type }) => type === 'anchor' || type === 'tag');
  const [keyStart, keyEnd] = rangeOf(pair.key);
  if (keyStart === keyEnd && properties === undefined) throw new ScalarError('a value without a key');
  const colon = sep.find(({ type }) => type === 'map-value-ind');
  const source = text.slice(properties?.offset ?? keyStart, colon?.offset ?? keyEnd);
  if (source.includes('\n') || source.length > MAX_KEY_LENGTH) throw new ScalarError('not a simple key');
}

const MAX_KEY_LENGTH = 1024;

function quotedText(node: Scalar, text: string): string {
  if (!isClosed(sourceOf(node, text))) throw new ScalarError('an open quote');
  const value = String(node.value);
  const isBlock = node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;
  const isCutOff = isBlock && node.range?.[1] === text.length && endsInContent(value, text);
  return isCutOff ? value.replace(/\n$/, '') : value;
}

/** The yaml package ends a block scalar with a line break even where the file ends without one. */
function endsInContent(value: string, text: string): boolean {
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  return /[^ ]/.test(lastLine) || (lastLine !== '' && /(?:^|\n) +\n$/.test(value));
}

/** At the end of a file the yaml package takes an escaped quote for the closing one. */
function isClosed(source: string): boolean {
  const rest = source.slice(1);
  if (source.startsWith("'")) return rest.replaceAll("''", '').endsWith("'");
  return !source.startsWith('"') || rest.replaceAll(/\\[\s\S]/g, '').endsWith('"');
}

function sourceOf(node: Scalar, text: string): string {
  return text.slice(...rangeOf(node));
}

function rangeOf(node: unknown): [start: number, end: number] {
  return isNode(node) && node.range ? [node.range[0], node.range[1]] : [0, 0];
}
