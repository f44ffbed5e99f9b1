import type { Jsonable } from '../../shared/json/value.ts';
import { printable } from '../../shared/printable.ts';
import { parseIso } from '../../shared/time/iso.ts';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** A length of time in its largest unit: `42s`, `7m`, `3h`, `12d`. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [unit, size] = UNITS.find(([, size]) => whole >= size) ?? (['s', 1] as const);
  return `${Math.floor(whole / size)}${unit}`;
}

/** How long ago an ISO time was; empty where it is none. */
export function age(time: Jsonable, nowMs: number): string {
  const at = typeof time === 'string' ? parseIso(time) : null;
  return at === null ? '' : duration((nowMs - at) / 1000);
}

/** How long it is to an ISO time: `in 5m`; `due` where it has come or none is set. */
export function until(time: Jsonable, nowMs: number): string {
  const at = typeof time === 'string' ? parseIso(time) : null;
  return at === null || at <= nowMs ? 'due' : `in ${duration((at - nowMs) / 1000)}`;
}

/** A time as it is recorded, and how long ago it was. */
export function withAge(time: Jsonable, nowMs: number): string {
  const ago = age(time, nowMs);
  return ago === '' ? printable(time) : `${printable(time)} (${ago} ago)`;
}
