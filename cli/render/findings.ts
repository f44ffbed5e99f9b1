import type { Finding } from '../../shared/doctor/finding.ts';
import { printable } from '../../shared/printable.ts';
import { paint, type Screen } from './screen.ts';
import { wrap } from './wrap.ts';

/** Where nothing tells how wide the reader's screen is. */
const DEFAULT_COLUMNS = 80;

const LOOKS = {
  good: ['ok', 'green'],
  note: ['note', 'yellow'],
  fault: ['FAULT', 'red'],
  unknown: ['?', 'dim'],
} as const;

/** Of what is found; a narrower screen breaks it itself. */
const NARROWEST = 20;

const STATE_WIDTH = 7;
const CHECK_WIDTH = 13;

/** A line for each finding, its cure under it, and the sum of all. */
export function renderFindings(screen: Screen, findings: readonly Finding[]): string {
  const faults = findings.filter(({ state }) => state === 'fault').length;
  const sum = faults === 0 ? 'No fault found.' : `${faults === 1 ? '1 fault' : `${faults} faults`} found.`;
  return `${findings.map((finding) => line(screen, finding)).join('')}${sum}\n`;
}

function line(screen: Screen, { check, state, found, cure }: Finding): string {
  const [word, colour] = LOOKS[state];
  const indent = ' '.repeat(STATE_WIDTH + CHECK_WIDTH);
  const width = Math.max(NARROWEST, (screen.columns ?? DEFAULT_COLUMNS) - indent.length);
  const [first = '', ...more] = [...wrap(printable(found), width), ...cureLines(cure, width)];
  const head = paint(screen, colour, word.padEnd(STATE_WIDTH)) + check.padEnd(CHECK_WIDTH);
  return [`${head}${first}`, ...more.map((text) => indent + text)].map((text) => `${text}\n`).join('');
}

function cureLines(cure: string | null, width: number): string[] {
  return cure === null ? [] : wrap(`→ ${printable(cure)}`, width);
}
