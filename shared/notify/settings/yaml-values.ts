import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isSettingList, isSettingMap, OpaqueSetting, type Setting, type SettingKey } from './value.ts';
import { MERGE_KEY, resolvePlainScalar, resolveTaggedScalar, ScalarError } from './yaml-scalars.ts';
import { checkFlowTag, checkKeySource, type Source, scalarText } from './yaml-source.ts';

/**
 * The value of a parsed document, constructed as PyYAML's `safe_load` does (design 7): duplicate keys take
 * the last value, `<<` merges, unknown tags fail. An alias is the very value it names, never a copy, so no
 * tower of aliases costs more than the file's own length; only `<<` copies, and is bounded.
 * @throws ScalarError on what `safe_load` refuses, on a collection that contains itself, on too many merges.
 */
export function settingOf(root: Node | null, text: string): Setting {
  return constructNode(root, { text, inFlow: false, anchors: new Map(), merges: { left: MAX_MERGED_KEYS } });
}

interface Context extends Source {
  /** Values by anchor; null while the anchored collection is still being constructed. */
  readonly anchors: Map<string, { readonly value: Setting } | null>;
  /** How many more keys `<<` may copy. */
  readonly merges: { left: number };
}

/** A chain of merges grows with its square, so a file of a megabyte could ask for more than the memory holds. */
const MAX_MERGED_KEYS = 100_000;

const YAML = 'tag:yaml.org,2002:';

function constructNode(node: unknown, context: Context): Setting {
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return aliased(node.source, context);
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) throw new ScalarError('not a value');
  checkFlowTag(node, context);
  const { anchor } = node;
  if (anchor !== undefined) reserveAnchor(anchor, context);
  const value = isScalar(node) ? scalarOf(node, context) : collectionOf(node, context);
  if (anchor !== undefined) context.anchors.set(anchor, { value });
  return value;
}

function aliased(name: string, { anchors }: Context): Setting {
  const target = anchors.get(name);
  if (target === undefined) throw new ScalarError(`no anchor ${name}`);
  if (target === null) throw new ScalarError(`${name} contains itself`);
  return target.value;
}

function reserveAnchor(name: string, { anchors }: Context): void {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) throw new ScalarError(`${name} is no name for an anchor`);
  if (anchors.has(name)) throw new ScalarError(`a second anchor ${name}`);
  anchors.set(name, null);
}

function scalarOf(node: Scalar, context: Context): SettingKey {
  const text = scalarText(node, context);
  if (node.tag !== undefined && node.tag !== '!') return resolveTaggedScalar(node.tag, text);
  // A bare `!` makes even a quoted scalar be read as an unquoted one.
  return node.tag === '!' || node.type === Scalar.PLAIN ? resolvePlainScalar(text) : text;
}

function collectionOf(node: YAMLMap | YAMLSeq, context: Context): Setting {
  const inside = { ...context, inFlow: context.inFlow || node.flow === true };
  const tag = node.tag === '!' ? undefined : node.tag;
  return isMap(node) ? mappingOf(node.items, tag, inside) : sequenceOf(node.items, tag, inside);
}

function mappingOf(pairs: readonly Pair[], tag = `${YAML}map`, context: Context): Setting {
  if (tag !== `${YAML}map` && tag !== `${YAML}set`) throw new ScalarError(`a mapping is no ${tag}`);
  const merged = new Map<SettingKey, Setting>();
  const own = new Map<SettingKey, Setting>();
  for (const pair of pairs) {
    checkKeySource(pair, context);
    if (isMergeKey(pair.key)) mergeInto(merged, constructNode(pair.value, context), context);
    else own.set(keyOf(pair.key, context), constructNode(pair.value, context));
  }
  const all = new Map([...merged, ...own]);
  return tag === `${YAML}set` ? new OpaqueSetting(all.size > 0) : all;
}

function isMergeKey(key: unknown): boolean {
  return isPlain(key) && key.value === MERGE_KEY && (key.tag ?? '!') === '!';
}

function isPlain(node: unknown): node is Scalar {
  return isScalar(node) && node.type === Scalar.PLAIN;
}

/** In a list of sources the first one's keys win. */
function mergeInto(target: Map<SettingKey, Setting>, source: Setting, { merges }: Context): void {
  const sources = isSettingList(source) ? source.toReversed() : [source];
  for (const each of sources) {
    if (!isSettingMap(each)) throw new ScalarError('only mappings can be merged');
    merges.left -= each.size;
    if (merges.left < 0) throw new ScalarError('too many merged keys');
    for (const [key, value] of each) target.set(key, value);
  }
}

function keyOf(node: unknown, context: Context): SettingKey {
  if (isPlain(node) && node.value === '=' && (node.tag ?? node.anchor) === undefined) return '=';
  const key = constructNode(node, context);
  if (isSettingMap(key) || isSettingList(key)) throw new ScalarError('a collection cannot be a key');
  return key;
}

function sequenceOf(items: readonly unknown[], tag = `${YAML}seq`, context: Context): Setting {
  const values = items.map((item) => constructNode(item, context));
  if (tag === `${YAML}seq`) return values;
  const ofPairs = tag === `${YAML}omap` || tag === `${YAML}pairs`;
  if (!ofPairs || !values.every((value) => isSettingMap(value) && value.size === 1)) {
    throw new ScalarError(`a list is no ${tag}`);
  }
  return values.map(() => new OpaqueSetting(true));
}
