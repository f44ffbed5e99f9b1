import type { ObjectText, Span } from './parse.ts';
import type { Json } from './value.ts';
import { quote, RECORD_STYLE, type WriteStyle, writeJson } from './write.ts';

/**
 * The object's text with some members set: a known key's value is replaced where it stands, a new key is
 * added at the end, every other character stays as its writer left it (design 3, Lossless).
 */
export function spliceMembers(object: ObjectText, changes: ReadonlyMap<string, Json>): string {
  const style = styleOf(object);
  const edits: { span: Span; text: string }[] = [];
  const added: string[] = [];
  for (const [key, value] of changes) {
    const text = writeJson(value, style, 1);
    const span = object.spans.get(key);
    if (span === undefined) added.push(quote(key) + style.colon + text);
    else edits.push({ span, text });
  }
  if (added.length > 0) edits.push(addition(object, style, added));
  edits.sort((a, b) => b.span.start - a.span.start);
  return edits.reduce(
    (text, edit) => text.slice(0, edit.span.start) + edit.text + text.slice(edit.span.end),
    object.text,
  );
}

function addition(object: ObjectText, style: WriteStyle, members: string[]): { span: Span; text: string } {
  const separator = style.indent === null ? style.comma : `,\n${style.indent}`;
  const joined = members.join(separator);
  const end = lastValueEnd(object);
  if (end !== null) return { span: { start: end, end }, text: separator + joined };
  const open = object.text.indexOf('{') + 1;
  const close = object.text.lastIndexOf('}');
  return { span: { start: open, end: close }, text: joined };
}

/** Of the member written last, which is not the last of the spans when a key is given twice. */
function lastValueEnd(object: ObjectText): number | null {
  let last: number | null = null;
  for (const { end } of object.spans.values()) if (last === null || end > last) last = end;
  return last;
}

/** The writer's own layout, read off its first member. */
function styleOf(object: ObjectText): WriteStyle {
  const [first, second] = object.keys;
  if (first === undefined) return { ...RECORD_STYLE, indent: null, comma: ', ' };
  const lead = object.text.slice(object.text.indexOf('{') + 1, first.start);
  const colon = /^\s*:[^\S\n]*/.exec(object.text.slice(first.end))?.[0] ?? ': ';
  if (lead.includes('\n')) return { ...RECORD_STYLE, indent: lead.slice(lead.lastIndexOf('\n') + 1), colon };
  const comma = second === undefined ? ', ' : (/,\s*$/.exec(object.text.slice(0, second.start))?.[0] ?? ', ');
  return { ...RECORD_STYLE, indent: null, colon, comma };
}
