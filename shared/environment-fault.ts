import { hasCode } from './errno.ts';

/** A module or native binding of this installation that cannot be loaded (ADR-0106 D8: exit 78). */
export class EnvironmentFault extends Error {
  override readonly name = 'EnvironmentFault';
}

export function isEnvironmentFault(error: unknown): error is Error {
  return error instanceof EnvironmentFault || isLoadFailure(error);
}

export function isLoadFailure(error: unknown): error is Error {
  return hasCode(error, 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED');
}
