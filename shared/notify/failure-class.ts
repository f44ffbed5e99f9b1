/** The closed set a notifier's words are sorted into; the words themselves are dropped (design 7). */
export type FailureClass =
  | 'command_not_found'
  | 'permission_denied'
  | 'connection_failed'
  | 'authentication_failed'
  | 'refused_by_policy'
  | 'target_unknown'
  | 'invalid_usage'
  | 'sender_identity_mismatch'
  | 'timeout'
  | 'unknown';

/** In the order they are tried: a narrow phrase stands before a broader one it contains. */
const PHRASES: readonly (readonly [FailureClass, readonly string[]])[] = [
  ['command_not_found', ['command not found', 'no such file or directory', 'not found']],
  ['permission_denied', ['permission denied', 'operation not permitted', 'eacces']],
  ['connection_failed', ['connection refused', 'no route to host', 'unreachable', 'network is', 'dns']],
  ['authentication_failed', ['unauthorized', 'authentication failed', 'invalid token', '401']],
  ['refused_by_policy', ['refused by', 'blocked by', 'denied by policy', 'forbidden', '403']],
  ['target_unknown', ['unknown recipient', 'no such actor', 'unknown actor', 'no such user']],
  ['invalid_usage', ['usage:', 'unrecognized argument', 'invalid argument', 'unknown option']],
  ['sender_identity_mismatch', ['expect-actor mismatch']],
];

/** First match wins; what nothing matches is `unknown`, never a fragment of the text. */
export function classifyFailure(text: string): FailureClass {
  const lowered = text.toLowerCase();
  return PHRASES.find(([, phrases]) => phrases.some((phrase) => lowered.includes(phrase)))?.[0] ?? 'unknown';
}
