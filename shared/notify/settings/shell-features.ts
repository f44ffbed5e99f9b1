/**
 * Whether a command would need a shell to mean what it says: a pipe, a redirection, `;`, `&`, a backtick or
 * an expansion outside quotes. Nothing here ever reaches a shell, so such a command is refused rather than
 * run with those characters as text (design 7). A `$` that expands nothing is text.
 */
export function needsShell(command: string): boolean {
  return /[|<>;&`]|\$[A-Za-z_({]/.test(command.replaceAll(QUOTED_SPAN, ''));
}

/** Quotes only: a backslash does not hide a quote, as recorded. Double quotes hide `$X` too. */
const QUOTED_SPAN = /'[^']*'|"[^"]*"/g;
