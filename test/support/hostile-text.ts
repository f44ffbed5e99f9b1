/** What a record must not be able to do to a terminal: colour, move, retitle, turn about, hide, ring. */
export const HOSTILE_TEXT =
  'a\u001b[31mred\u001b[0m\u001b]0;title\u0007\u001b[2J\u001b[1;1H\r\n\t\b\u009b31m\u007f\u0000' +
  '\u202eelif\u202c\u2066x\u2069\u200e\u200f\u061c\u2028\u2029\ufeff\u200bz';

/** Control characters other than line ends, and characters that turn or hide text, as they are met in a text. */
export function hostileBits(text: string): string[] {
  const found = text.match(/[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu) ?? [];
  return found
    .filter((unit) => unit !== '\n')
    .map((unit) => `U+${unit.codePointAt(0)?.toString(16).padStart(4, '0')}`);
}
