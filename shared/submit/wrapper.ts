/**
 * Runs a command and reports its end, with no Node process kept for it: a fixed text for /bin/sh, which gets
 * everything of the user's as parameters and reads none of it. The traps let sh outlive a signal to the whole
 * group for as long as its command does, and report that end; its command gets the signals as they come. `exec`
 * in a subshell starts the program and never a builtin of that name. A signal that ends the hook while it
 * starts has it started again. So has an installation that is not whole (78, or no program at all), for ten seconds:
 * while npm puts a newer one in its place, its files are gone for a moment, and a run's end must not go with them.
 * sh says 128+n for a command that signal n ended, and passes on no variable whose name is no identifier.
 */
const TEXT = `trap : HUP INT QUIT USR1 USR2 ALRM TERM
node=$1 main=$2 run=$3
shift 3
(exec "$@")
code=$?
status=failed
[ "$code" -eq 0 ] && status=completed
for try in 1 2 3 4 5 6 7 8 9 10; do
  said=78
  [ -e "$main" ] && { "$node" "$main" hook terminal --run-id "$run" --status "$status" --exit-code "$code"; said=$?; }
  if [ "$said" -eq 78 ]; then sleep 1; elif [ "$said" -le 128 ]; then break; fi
done
exit "$code"`;

/** `lion`: the node and the built main.js whose `hook terminal` reports the end. */
export function wrapped(
  argv: readonly string[],
  lion: { readonly node: string; readonly main: string },
  runId: string,
): string[] {
  return ['/bin/sh', '-c', TEXT, 'lion-run', lion.node, lion.main, runId, ...argv];
}
