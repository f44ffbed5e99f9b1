/**
 * `*` any text, `?` one character, everything else itself; the whole text has to match. In time proportional to
 * pattern times text, whatever the pattern: labels and globs are other people's.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [wanted, found] = [[...pattern], [...text]];
  let [at, next] = [0, 0];
  let star = -1;
  let resumeAt = 0;
  while (at < found.length) {
    if (wanted[next] === '*') {
      star = next++;
      resumeAt = at;
    } else if (next < wanted.length && (wanted[next] === '?' || wanted[next] === found[at])) {
      next += 1;
      at += 1;
    } else if (star === -1) {
      return false;
    } else {
      next = star + 1;
      at = ++resumeAt;
    }
  }
  return wanted.slice(next).every((unit) => unit === '*');
}
