import { errnoOf } from '../errno.ts';
import { JsonSyntaxError, parseJson } from '../json/parse.ts';
import { isObject, type Json, JsonNumber, type JsonObject } from '../json/value.ts';
import { readBounded, UnusableFile } from '../record/read.ts';

/** What the child leaves is a few short fields; a larger file is somebody else's. */
const MAX_CAUSE_BYTES = 4096;

const CLASSES: ReadonlySet<unknown> = new Set([
  'ProviderError',
  'ProviderQuotaError',
  'ProviderCapacityError',
  'ProviderAuthError',
  'ProviderContextError',
  'WorkerLivenessError',
]);

/** The typed cause a failing child left behind, forced into closed sets; null where there is none to trust. */
export function readFailureCause(path: string): JsonObject | null {
  let left: Json;
  try {
    left = parseJson(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
        readBounded(path, MAX_CAUSE_BYTES).bytes,
      ),
    );
  } catch (error) {
    const known =
      error instanceof UnusableFile || error instanceof JsonSyntaxError || error instanceof TypeError;
    if (known || errnoOf(error) !== null) return null;
    throw error;
  }
  return isObject(left) ? normalise(left) : null;
}

function normalise(left: JsonObject): JsonObject {
  const named = left.get('class');
  const status = left.get('provider_status');
  const received =
    left.get('status_source') === 'received' && status instanceof JsonNumber && status.isInteger;
  const source = received ? 'received' : left.get('status_source') === 'absent' ? 'absent' : 'unreadable';
  const cause: JsonObject = new Map<string, Json>([
    ['class', CLASSES.has(named) ? (named as string) : 'unknown'],
    ['retryable', left.get('retryable') === true],
    ['status_source', source],
  ]);
  if (received) cause.set('provider_status', status);
  return cause;
}
