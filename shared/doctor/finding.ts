import type { Engine } from '../engine.ts';

/** One thing that was looked at, in words for a person. */
export interface Finding {
  /** One word for programs; the same for every outcome of a check. */
  readonly check: string;
  /** `note`: works, with something to know; `fault`: something of the product does not work; `unknown`: not looked at. */
  readonly state: 'good' | 'note' | 'fault' | 'unknown';
  readonly found: string;
  /** What to do; null where nothing needs to be done. */
  readonly cure: string | null;
}

export interface Place {
  readonly engine: Engine;
  /** An empty directory of ours beside the store's own files; null: none could be made, or there is no store. */
  readonly scratch: string | null;
}

export type Check = (place: Place) => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>;

export function good(check: string, found: string): Finding {
  return { check, state: 'good', found, cure: null };
}

export function note(check: string, found: string, cure: string | null): Finding {
  return { check, state: 'note', found, cure };
}

export function fault(check: string, found: string, cure: string): Finding {
  return { check, state: 'fault', found, cure };
}

export function unknown(check: string, found: string): Finding {
  return { check, state: 'unknown', found, cure: null };
}
