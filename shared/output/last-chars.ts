/** The last so many code points of a text, without a list of all of them: a log may be as long as memory. */
export function lastCharsOf(text: string, chars: number): { readonly text: string; readonly cut: boolean } {
  let at = text.length;
  for (let left = chars; left > 0 && at > 0; left--) at -= isPairAt(text, at - 2) ? 2 : 1;
  return { text: text.slice(at), cut: at > 0 };
}

/** Two halves that are one character. */
export function isPairAt(text: string, at: number): boolean {
  const [first, second] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000;
}
