/**
 * Runs a command and reports its end, with no Node process kept for it: a fixed text for /bin/sh, which gets
 * everything of the user's as parameters and reads none of it. The traps let sh outlive a signal to the whole
 * group for as long as its command does, and report that end; its command gets the signals as they come. sh
 * says 128+n for a command that signal n ended.
 */
const TEXT = `trap : TERM INT HUP
node=$1 main=$2 run=$3
shift 3
"$@"
code=$?
status=failed
[ "$code" -eq 0 ] && status=completed
exec "$node" "$main" hook terminal --run-id "$run" --status "$status" --exit-code "$code"`;

/** `lion`: the node and the built main.js whose `hook terminal` reports the end. */
export function wrapped(
  argv: readonly string[],
  lion: { readonly node: string; readonly main: string },
  runId: string,
): string[] {
  return ['/bin/sh', '-c', TEXT, 'lion-run', lion.node, lion.main, runId, ...argv];
}
