import type { Available } from '../../shared/output/available.ts';
import type { Usage } from '../../shared/output/usage.ts';
import { printable } from '../../shared/printable.ts';
import { age } from './age.ts';

/** `12% 340M`; a dash for what is not known, never a zero. */
export function usageCell({ value }: Available<Usage>): string {
  if (value === null) return '-';
  return `${percent(value.cpu_percent)} ${size(value.rss_bytes)}`;
}

/** The same for one run, with the peak and the time it is from. */
export function usageLine(usage: Available<Usage>, nowMs: number): string {
  const { value } = usage;
  if (value === null) return `- (${printable(usage.detail)})`;
  const processes = value.processes === 1 ? '1 process' : `${value.processes} processes`;
  const peak = `peak ${size(value.peak_rss_bytes)}`;
  return `${usageCell(usage)}, ${peak}, ${processes} (${age(value.sampled_at, nowMs)} ago)`;
}

function percent(value: number | null): string {
  return value === null ? '-' : `${Math.round(value)}%`;
}

const UNITS = ['B', 'K', 'M', 'G', 'T'];
const UNIT_STEP = 1024;

/** In the largest unit of which there is at least one: `512B`, `340M`, `1.2G`. */
export function size(bytes: number | null): string {
  if (bytes === null) return '-';
  let amount = bytes;
  let unit = 0;
  while (Math.round(amount) >= UNIT_STEP && unit < UNITS.length - 1) {
    amount /= UNIT_STEP;
    unit++;
  }
  const shown = unit > 2 && amount < 10 ? amount.toFixed(1) : String(Math.round(amount));
  return `${shown}${UNITS[unit]}`;
}
