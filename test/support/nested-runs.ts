/** Processes in pid namespaces below ours. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import {
  BARE_ENV,
  ended,
  fieldOf,
  firstLineOf,
  isRootOnly,
  type Living,
  markedEnv,
  nameOf,
  SLEEP,
  UNDUMPABLE,
} from './live-runs.ts';
import type { StartedProcess } from './processes.ts';
import { PYTHON } from './python.ts';
import { startTimeOf } from './start-time.ts';
import { waitUntil } from './wait-until.ts';

export interface Nesting {
  /** The number it has where it lives; the next free one where null. */
  number: number | null;
  /** It is started into a further namespace: the number is then the one its starter knows it by. */
  deeper?: boolean;
  undumpable?: boolean;
}

export interface Nested extends StartedProcess {
  /** What its starter, in the inner namespace, wrote down. */
  recordedPid: number;
}

/** A live process in a pid namespace below ours, whose `pid` here and number there differ; needs root. */
export async function startNested(living: Living, nesting: Nesting): Promise<Nested> {
  const command = nesting.undumpable ? [PYTHON, '-c', UNDUMPABLE] : SLEEP;
  const asked = { command, env: markedEnv(living.mark), uid: living.uid ?? 0, ...nesting };
  const child = spawn(PYTHON, ['-c', NESTED, JSON.stringify(asked)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: BARE_ENV,
  });
  const { init, number } = JSON.parse(await firstLineOf(child)) as { init: number; number: number };
  const pid = await waitUntil('the nested process', () => childOf(init));
  await waitUntil('the nested process to be itself', () => nameOf(pid) === command[0]?.replace(/.*\//, ''));
  if (nesting.undumpable) await waitUntil('it to be undumpable', () => isRootOnly(pid));
  const stop = async () => {
    child.stdin?.end();
    await ended(child);
  };
  return { pid, pgid: pid, members: [], recordedPid: number, ...startTimeOf(pid), stop };
}

/** A number that nobody holds now and that is not given out again soon. */
export function freeNumber(): number {
  const last = Number(readFileSync('/proc/sys/kernel/ns_last_pid', 'utf8'));
  for (let number = last - 20; number > 300; number -= 1) if (!isTaken(number)) return number;
  throw new Error('no free process number');
}

function childOf(parent: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .find((pid) => fieldOf(pid, 'PPid') === String(parent));
}

function isTaken(number: number): boolean {
  try {
    process.kill(number, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Prints {init, number} and lives until its input ends; the namespace ends with its init. */
const NESTED = `
import ctypes, json, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)

def new_namespace():
    if libc.unshare(0x20000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")

asked = json.loads(sys.argv[1])
told, tell = os.pipe()
new_namespace()
init = os.fork()
if init == 0:
    libc.prctl(1, signal.SIGKILL)
    if asked.get("deeper"):
        new_namespace()
    if asked["number"]:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(asked["number"] - 1))
    run = os.fork()
    if run == 0:
        os.setsid()
        nowhere = os.open("/dev/null", os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        os.setgroups([])
        os.setresgid(*[asked["uid"]] * 3)
        os.setresuid(*[asked["uid"]] * 3)
        os.execvpe(asked["command"][0], asked["command"], asked["env"])
    os.write(tell, json.dumps(run).encode() + b"\\n")
    while True:
        signal.pause()
number = json.loads(os.fdopen(told).readline())
if asked["number"] and number != asked["number"]:
    raise SystemExit("the number %s was taken, it got %s" % (asked["number"], number))
print(json.dumps({"init": init, "number": number}), flush=True)
sys.stdin.read()
os.kill(init, signal.SIGKILL)
os.waitpid(init, 0)
`;
