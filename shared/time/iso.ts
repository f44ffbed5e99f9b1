/** Times as the Python side writes and reads them: UTC, microseconds, `+00:00`. */

/** Milliseconds since the epoch (fractions are microseconds) as Python's `isoformat` prints them. */
export function formatIso(epochMs: number): string {
  const micros = Math.round((epochMs - Math.floor(epochMs / 1000) * 1000) * 1000);
  const seconds = Math.floor(epochMs / 1000) + (micros === 1_000_000 ? 1 : 0);
  return isoOf(seconds, micros === 1_000_000 ? 0 : micros);
}

/**
 * Epoch seconds as `datetime.fromtimestamp(x, utc).isoformat()`; half a microsecond goes to even.
 * Null outside the years 1 to 9999.
 */
export function formatEpochSeconds(seconds: number): string | null {
  let whole = Math.floor(seconds);
  let micros = roundHalfEven((seconds - whole) * 1_000_000);
  if (micros === 1_000_000) {
    whole += 1;
    micros = 0;
  }
  return whole < MIN_EPOCH_S || whole > MAX_EPOCH_S ? null : isoOf(whole, micros);
}

const MIN_EPOCH_S = -62_135_596_800;
const MAX_EPOCH_S = 253_402_300_799;

const DATE = /^(\d{4})-?(\d\d)-?(\d\d)$/;
const ZONE = 'Z|[+-]\\d\\d(?::\\d\\d(?::\\d\\d(?:\\.\\d+)?)?|\\d\\d(?:\\d\\d(?:\\.\\d+)?)?)?';
/** With colons throughout, or with none. */
const TIMES = [':', ''].map(
  (colon) => new RegExp(`^(\\d\\d)(?:${colon}(\\d\\d)(?:${colon}(\\d\\d)(?:[.,](\\d+))?)?)?(${ZONE})?$`),
);
const DAY_MS = 86_400_000;

/**
 * Milliseconds since the epoch of what Python 3.11's `datetime.fromisoformat` reads, without a zone taken
 * as UTC; null for anything else (a leap second, a lower-case `z`, month 13).
 */
export function parseIso(text: string): number | null {
  const split = /^\d{4}-/.test(text) ? 10 : 8;
  const date = DATE.exec(text.slice(0, split));
  if (date === null) return null;
  const rest = text.length > split ? timeOf(text.slice(split + 1)) : undefined;
  if (rest === null || text.length === split + 1) return null;
  const [hour, minute, second] = [rest?.[1], rest?.[2], rest?.[3]].map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return null;
  const zone = zoneMs(rest?.[5]);
  if (Math.abs(zone) >= DAY_MS) return null;
  const day = dayOf(Number(date[1]), Number(date[2]), Number(date[3]));
  if (day === null) return null;
  const fractionMs = Number(`0.${(rest?.[4] ?? '0').slice(0, 6)}`) * 1000;
  return day + (hour * 3600 + minute * 60 + second) * 1000 + fractionMs - zone;
}

function timeOf(text: string): RegExpExecArray | null {
  return TIMES.map((pattern) => pattern.exec(text)).find((match) => match !== null) ?? null;
}

function dayOf(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same && year >= 1 ? date.getTime() : null;
}

function zoneMs(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') return 0;
  const [hours, minutes, seconds] = zone.slice(1).replaceAll(':', '').match(/\d\d/g) ?? [];
  const ms = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
  return zone.startsWith('-') ? -ms : ms;
}

function isoOf(seconds: number, micros: number): string {
  const date = new Date(seconds * 1000);
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  const stem = `${year}-${date
    .toISOString()
    .replace(/^[+-]?\d+-/, '')
    .slice(0, 14)}`;
  return micros === 0 ? `${stem}+00:00` : `${stem}.${String(micros).padStart(6, '0')}+00:00`;
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
