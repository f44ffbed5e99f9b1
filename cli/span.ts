const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Milliseconds of a length of time as a person gives it (90s, 15m, 2h, 7d, 4w); null where it is none. */
export function spanMsOf(text: string): number | null {
  const [, number, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  return number === undefined ? null : Number(number) * (UNITS_MS[unit ?? ''] ?? 0);
}
