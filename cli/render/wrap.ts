import stringWidth from 'string-width';

/** Lines of at most `width` columns, broken between words; a word that is longer keeps its line for itself. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length === 0 || stringWidth(longer) > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
