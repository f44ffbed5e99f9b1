import type { Digest, Facts, Sieve } from '../index/block.ts';
import { isNoticeIn, type NoticeState } from '../notify/notice-filter.ts';
import type { Outcome } from './derive.ts';
import { matchesGlob } from './glob.ts';

/** What a list is narrowed to: all of it at once; null (false) asks for nothing. */
export interface ListFilter {
  /** Texts are compared verbatim. */
  readonly status: string | null;
  readonly outcome: Outcome | null;
  readonly state: 'open' | 'terminal' | null;
  readonly kind: string | null;
  /** A glob, matched against the whole label. */
  readonly label: string | null;
  readonly tag: string | null;
  readonly notifyState: NoticeState | null;
  readonly reason: string | null;
  /** Submitted then or later, epoch milliseconds. */
  readonly sinceMs: number | null;
  /** Submitted before. */
  readonly untilMs: number | null;
  /** Only runs that say something of theirs is degraded: that is no fact of the record alone. */
  readonly degraded: boolean;
}

export const NO_FILTER: ListFilter = {
  ...{ status: null, outcome: null, state: null, kind: null, label: null, tag: null, notifyState: null },
  ...{ reason: null, sinceMs: null, untilMs: null, degraded: false },
};

export function isUnfiltered(filter: ListFilter): boolean {
  return Object.values(filter).every((wanted) => wanted === null || wanted === false);
}

/** The one matcher, by scan and by index, of everything but `degraded`. */
export function matchesFacts(filter: ListFilter, facts: Facts): boolean {
  return (
    isWanted(filter.status, facts.status) &&
    isWanted(filter.outcome, facts.outcome) &&
    isWanted(filter.kind, facts.kind) &&
    isWanted(filter.reason, facts.reasonCode) &&
    (filter.state === null || facts.terminal === (filter.state === 'terminal')) &&
    (filter.label === null || (facts.label !== null && matchesGlob(filter.label, facts.label))) &&
    (filter.tag === null || facts.tags.includes(filter.tag)) &&
    (filter.notifyState === null || isNoticeIn(facts.notifyState, facts.retryState, filter.notifyState)) &&
    isWithin(filter, facts.submittedMs)
  );
}

function isWanted(wanted: string | null, found: string | null): boolean {
  return wanted === null || found === wanted;
}

/** A run that does not say when it was submitted is in no window. */
function isWithin({ sinceMs, untilMs }: ListFilter, submittedMs: number | null): boolean {
  if (sinceMs === null && untilMs === null) return true;
  if (submittedMs === null) return false;
  return (sinceMs === null || submittedMs >= sinceMs) && (untilMs === null || submittedMs < untilMs);
}

/** Lets through every run that may match, and hardly another. */
export function sieveOf(filter: ListFilter): Sieve {
  const { status, outcome, kind, reason, label, tag, state } = filter;
  const is = (wanted: string) => (found: string | null) => found === wanted;
  return {
    admits: (digest) => mayMatch(filter, digest),
    values: {
      ...(status === null ? {} : { status: is(status) }),
      ...(outcome === null ? {} : { outcome: is(outcome) }),
      ...(kind === null ? {} : { kind: is(kind) }),
      ...(reason === null ? {} : { reasonCode: is(reason) }),
      ...(label === null ? {} : { label: (found) => found !== null && matchesGlob(label, found) }),
      ...(tag === null ? {} : { tags: (found) => found.includes(tag) }),
      ...(state === null ? {} : { terminal: (found) => found === (state === 'terminal') }),
    },
  };
}

/** False: no settled run of the block matches. What the block does not name may be anything. */
function mayMatch(filter: ListFilter, digest: Digest): boolean {
  const has = (wanted: string | null, found: readonly (string | null)[] | null): boolean =>
    wanted === null || found === null || found.includes(wanted);
  return (
    has(filter.status, digest.status) &&
    has(filter.outcome, digest.outcome) &&
    has(filter.kind, digest.kind) &&
    has(filter.reason, digest.reasonCode) &&
    has(filter.tag, digest.tags) &&
    filter.state !== 'open' &&
    mayHaveLabel(filter, digest) &&
    mayHaveNotice(filter, digest) &&
    mayBeWithin(filter, digest)
  );
}

function mayHaveLabel({ label }: ListFilter, digest: Digest): boolean {
  if (label === null || digest.label === null) return true;
  return digest.label.some((found) => found !== null && matchesGlob(label, found));
}

function mayHaveNotice({ notifyState }: ListFilter, { notices }: Digest): boolean {
  if (notifyState === null || notices === null) return true;
  return notices.some(([delivery, retry]) => isNoticeIn(delivery, retry, notifyState));
}

function mayBeWithin({ sinceMs, untilMs }: ListFilter, { submittedMs }: Digest): boolean {
  if (sinceMs === null && untilMs === null) return true;
  if (submittedMs === null) return false;
  const [earliest, latest] = submittedMs;
  return (sinceMs === null || latest >= sinceMs) && (untilMs === null || earliest < untilMs);
}
