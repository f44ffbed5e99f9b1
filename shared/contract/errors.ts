import type { Jsonable } from '../json/value.ts';

/** ADR-0106 D3: closed; a new kind is a new contract version. */
export type ErrorKind = 'not_found' | 'invalid_input' | 'conflict' | 'unavailable' | 'internal';

/** Why a request was refused. The message is for people; `detail` is not part of the contract. */
export class LionError extends Error {
  override readonly name = 'LionError';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly detail: { readonly [key: string]: Jsonable } | null = null,
  ) {
    super(message);
  }
}
