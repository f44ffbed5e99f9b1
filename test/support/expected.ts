import type { Json, JsonNumber } from './json-tree.ts';

/** What a recorded answer cannot say as a value: a predicate over what was found. Null means it fits. */
export class Matcher {
  readonly problem: (actual: Json | undefined) => string | null;
  constructor(problem: (actual: Json | undefined) => string | null) {
    this.problem = problem;
  }
}

/** Stands where the answer must be an `ok: false` envelope of this kind. */
export class ErrorEnvelope {
  readonly kind: string;
  constructor(kind: string) {
    this.kind = kind;
  }
}

/** Stands where an availability wrapper must say that the value could not be had. */
export class Unavailable {}

export type Expected =
  | null
  | boolean
  | string
  | JsonNumber
  | Matcher
  | ErrorEnvelope
  | Unavailable
  | Expected[]
  | ExpectedObject;
export type ExpectedObject = Map<string, Expected>;

export function matching(wanted: string, fits: (actual: Json | undefined) => boolean): Matcher {
  return new Matcher((actual) => (fits(actual) ? null : `wanted ${wanted}`));
}

export function isExpectedObject(value: Expected | undefined): value is ExpectedObject {
  return value instanceof Map;
}
