/**
 * `--machine` is a request, not an inference, and counts only before a `--` (ADR-0106 D1, design 9). Taken out
 * before any parsing, so that a malformed call is still answered in the form that was asked for.
 */
export function takeMachineFlag(args: readonly string[]): {
  readonly machine: boolean;
  readonly args: string[];
} {
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  const rest = end === -1 ? [] : args.slice(end);
  return {
    machine: options.includes('--machine'),
    args: [...options.filter((arg) => arg !== '--machine'), ...rest],
  };
}
