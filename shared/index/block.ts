/**
 * A stretch of the list put together, so that a filter can pass over it: what its settled runs are like (`Digest`),
 * and what each of them is like (`BlockRun`), each text with a checksum of its own. Rows and blocks say the same;
 * a block goes in the transaction that changes one of its rows, and is made anew when things are quiet.
 */
import { hash } from 'node:crypto';
import type { Column } from './columns.ts';
import type { IndexRow } from './schema.ts';

/** What a filter can go by. */
export type Facts = Pick<
  IndexRow,
  | 'terminal'
  | 'status'
  | 'outcome'
  | 'kind'
  | 'label'
  | 'reasonCode'
  | 'submittedMs'
  | 'notifyState'
  | 'retryState'
  | 'tags'
>;

export interface BlockRun {
  readonly runId: string;
  /** Null: its row does not stand for it, it has to be looked at. */
  readonly settled: Facts | null;
}

/** Of the settled runs of a block: each value that one of them has, or null where these are too many to name. */
export interface Digest {
  /** Its lowest id; the block has every run from here to its last. */
  readonly first: string;
  readonly last: string;
  readonly runs: number;
  /** Ids of the others, the newest first. */
  readonly unsettled: readonly string[];
  /** How many have each outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly status: readonly Text[] | null;
  readonly outcome: readonly Text[] | null;
  readonly kind: readonly Text[] | null;
  readonly label: readonly Text[] | null;
  readonly reasonCode: readonly Text[] | null;
  /** Delivery state and retry state. */
  readonly notices: readonly (readonly [Text, Text])[] | null;
  readonly tags: readonly string[] | null;
  /** The earliest and the latest, epoch milliseconds; null: none says when. */
  readonly submittedMs: readonly [number, number] | null;
}

type Text = string | null;

/** What is wanted, as far as it can be told of a block and of one value at a time. */
export interface Sieve {
  /** False: none of the block's settled runs is wanted. */
  admits(digest: Digest): boolean;
  /** A settled run with a value that does not pass is not wanted. */
  readonly values: { readonly [key in SharedKey]?: (value: Facts[key]) => boolean };
}

export const EVERY_RUN: Sieve = { admits: () => true, values: {} };

/** More values than these are not named. */
const MOST_VALUES = 32;

/** @param rows the newest first, at least one. */
export function toBlock(rows: readonly IndexRow[]): Column[] {
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (newest === undefined || oldest === undefined) throw new RangeError('a block of no runs');
  const digest = JSON.stringify(digestOf(rows, oldest.runId, newest.runId));
  const facts = JSON.stringify(packFacts(rows));
  return [newest.runId, oldest.runId, rows.length, digest, sumOf(digest), facts, sumOf(facts, digest)];
}

/** Null: this is not what `toBlock` made. */
export function readDigest(digest: string, sum: string): Digest | null {
  return sumOf(digest) === sum ? JSON.parse(digest) : null;
}

/**
 * The newest first, without those settled runs that the sieve holds back.
 * Null: this is not what `toBlock` made, or is of another digest.
 */
export function readFacts(
  digest: string,
  facts: string,
  sum: string,
  values: Sieve['values'] = {},
): BlockRun[] | null {
  return sumOf(facts, digest) === sum ? unpackFacts(JSON.parse(facts), values) : null;
}

function sumOf(...texts: readonly string[]): string {
  return hash('sha1', texts.join('\0'));
}

function digestOf(rows: readonly IndexRow[], first: string, last: string): Digest {
  const settled = rows.filter((row) => row.settled);
  const values = (of: (row: IndexRow) => Text): Text[] | null => few(new Set(settled.map(of)));
  const notices = new Map(settled.map((row) => [JSON.stringify(noticeOf(row)), noticeOf(row)]));
  const times = settled.flatMap(({ submittedMs }) => (submittedMs === null ? [] : [submittedMs]));
  return {
    ...{ first, last, runs: rows.length },
    unsettled: rows.filter((row) => !row.settled).map(({ runId }) => runId),
    outcomes: countOf(settled.map(({ outcome }) => String(outcome))),
    status: values((row) => row.status),
    outcome: values((row) => row.outcome),
    kind: values((row) => row.kind),
    label: values((row) => row.label),
    reasonCode: values((row) => row.reasonCode),
    notices: few(notices.values()),
    tags: few(new Set(settled.flatMap(({ tags }) => tags))),
    submittedMs: times.length === 0 ? null : [least(times), most(times)],
  };
}

function noticeOf(row: IndexRow): [Text, Text] {
  return [row.notifyState, row.retryState];
}

function few<T>(values: Iterable<T>): T[] | null {
  const all = [...values];
  return all.length > MOST_VALUES ? null : all;
}

function countOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b));
}

function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b));
}

/** One list a column, in the order of the runs: parsed at once, with hardly an object a run. */
interface PackedFacts {
  readonly ids: readonly string[];
  /** Whether each is settled. */
  readonly settled: readonly (0 | 1)[];
  readonly submittedMs: readonly (number | null)[];
  /** Values that runs share, and which of them each run has. */
  readonly shared: Readonly<Record<SharedKey, readonly [readonly unknown[], readonly number[]]>>;
}

type SharedKey = Exclude<keyof Facts, 'submittedMs'>;

function packFacts(rows: readonly IndexRow[]): PackedFacts {
  const sharedOf = (key: SharedKey) => share(rows.map((row) => row[key]));
  return {
    ids: rows.map(({ runId }) => runId),
    settled: rows.map((row) => (row.settled ? 1 : 0)),
    submittedMs: rows.map(({ submittedMs }) => submittedMs),
    shared: {
      ...{ terminal: sharedOf('terminal'), status: sharedOf('status'), outcome: sharedOf('outcome') },
      ...{ kind: sharedOf('kind'), label: sharedOf('label'), reasonCode: sharedOf('reasonCode') },
      ...{ notifyState: sharedOf('notifyState'), retryState: sharedOf('retryState'), tags: sharedOf('tags') },
    },
  };
}

function share(values: readonly unknown[]): [unknown[], number[]] {
  const places = new Map<string, number>();
  const distinct: unknown[] = [];
  const at = values.map((value) => {
    const text = JSON.stringify(value);
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, distinct.length);
    return distinct.push(value) - 1;
  });
  return [distinct, at];
}

function unpackFacts(packed: PackedFacts, values: Sieve['values']): BlockRun[] {
  const { ids, settled, submittedMs, shared } = packed;
  const isWanted = wantedIn(packed, values);
  const [terminal, status, outcome] = [of(shared.terminal), of(shared.status), of(shared.outcome)];
  const [kind, label, reasonCode] = [of(shared.kind), of(shared.label), of(shared.reasonCode)];
  const [notifyState, retryState, tags] = [of(shared.notifyState), of(shared.retryState), of(shared.tags)];
  const runs: BlockRun[] = [];
  for (const [at, runId] of ids.entries()) {
    if (settled[at] === 0) runs.push({ runId, settled: null });
    else if (isWanted(at)) {
      const facts = {
        terminal: terminal(at),
        status: status(at),
        outcome: outcome(at),
        kind: kind(at),
        label: label(at),
        reasonCode: reasonCode(at),
        submittedMs: submittedMs[at] ?? null,
        notifyState: notifyState(at),
        retryState: retryState(at),
        tags: tags(at),
      };
      runs.push({ runId, settled: facts as Facts });
    }
  }
  return runs;
}

/** Each value that runs share is asked about once, not once for each of them. */
function wantedIn({ shared }: PackedFacts, values: Sieve['values']): (at: number) => boolean {
  const asked = (Object.keys(values) as SharedKey[]).map((key) => {
    const [distinct, places] = shared[key];
    const passes = values[key] as (value: unknown) => boolean;
    return { passed: distinct.map(passes), places };
  });
  return (at) => asked.every(({ passed, places }) => passed[places[at] ?? -1]);
}

function of([values, places]: readonly [readonly unknown[], readonly number[]]): (at: number) => unknown {
  return (at) => values[places[at] ?? -1];
}
