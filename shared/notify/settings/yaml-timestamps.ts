const PARTS =
  /^(\d{4})-(\d\d?)-(\d\d?)(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.\d*)?(?:[ \t]*(?:Z|[-+](\d\d?)(?::(\d\d))?))?)?$/;

const MINUTES_A_DAY = 24 * 60;

/**
 * Whether a text of a timestamp's form names a moment Python's `datetime` can hold: `2026-02-30`, `24:00:00`
 * or a zone of a whole day make `safe_load` fail, and the file with it.
 */
export function timestampExists(text: string): boolean {
  const parts = PARTS.exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHours = 0, zoneMinutes = 0] =
    parts;
  const inDay = hour < 24 && minute < 60 && second < 60;
  return inDay && dayExists(year, month, day) && zoneHours * 60 + zoneMinutes < MINUTES_A_DAY;
}

function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
