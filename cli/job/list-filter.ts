import { LionError } from '../../shared/contract/errors.ts';
import { NOTICE_STATES } from '../../shared/notify/notice-filter.ts';
import { OUTCOMES } from '../../shared/run/derive.ts';
import type { ListFilter } from '../../shared/run/list-filter.ts';
import { parseIso } from '../../shared/time/iso.ts';

export interface FilterOptions {
  readonly status?: string;
  readonly outcome?: string;
  readonly open?: boolean;
  readonly terminal?: boolean;
  readonly kind?: string;
  readonly label?: string;
  readonly tag?: string;
  readonly notifyState?: string;
  readonly since?: string;
  readonly until?: string;
  readonly reason?: string;
  readonly degraded?: boolean;
}

/** @throws LionError `invalid_input` */
export function filterOf(options: FilterOptions, nowMs: number): ListFilter {
  if (options.open && options.terminal) {
    throw new LionError('invalid_input', '--open and --terminal exclude each other');
  }
  return {
    status: options.status || null,
    outcome: oneOf('--outcome', [...OUTCOMES], options.outcome),
    state: options.open ? 'open' : options.terminal ? 'terminal' : null,
    kind: options.kind ?? null,
    label: options.label ?? null,
    tag: options.tag ?? null,
    notifyState: oneOf('--notify-state', NOTICE_STATES, options.notifyState),
    reason: options.reason ?? null,
    sinceMs: momentOf('--since', options.since, nowMs),
    untilMs: momentOf('--until', options.until, nowMs),
    degraded: options.degraded ?? false,
  };
}

/** The filter as it was given: a cursor is of the listing that was asked for in the same words. */
export function wordsOf(options: FilterOptions): string {
  const { status, outcome, open, terminal, kind, label, tag, notifyState, since, until, reason, degraded } =
    options;
  return JSON.stringify([
    ...[status, outcome, open, terminal, kind, label, tag, notifyState, since, until, reason, degraded],
  ]);
}

function oneOf<T extends string>(option: string, words: readonly T[], text: string | undefined): T | null {
  if (text === undefined) return null;
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new LionError('invalid_input', `${option} takes ${words.join(', ')}, not ${JSON.stringify(text)}`);
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function momentOf(option: string, text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const ago = /^(\d{1,9})([smhd])$/.exec(text);
  const moment = ago === null ? parseIso(text) : nowMs - Number(ago[1]) * (UNITS_MS[ago[2] ?? ''] ?? 0);
  if (moment !== null) return moment;
  throw new LionError(
    'invalid_input',
    `${option} takes an ISO time or how long ago (90s, 15m, 2h, 7d), not ${JSON.stringify(text)}`,
  );
}
