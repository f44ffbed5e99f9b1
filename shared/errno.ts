/** The system's name for why a call failed (`ENOENT`), or null where the error is not the system's. */
export function errnoOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : null;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  const code = errnoOf(error);
  return code !== null && codes.includes(code);
}
