/**
 * Puts a run's fields into each token of the command, one field after the other as the Python engine does: a
 * label that holds `{target}` gets the target. Nothing of it is read by a shell.
 */
export function substitute(template: readonly string[], fields: Readonly<Record<string, string>>): string[] {
  return template.map((token) =>
    Object.entries(fields).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, () => value), token),
  );
}
