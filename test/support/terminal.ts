import { LION_MAIN } from './lion.ts';
import { runPython } from './python.ts';
import type { World } from './world.ts';

export interface TerminalRun {
  readonly exitCode: number;
  /** What reached the terminal, byte for byte: it does not translate line ends. */
  readonly screen: string;
  readonly stderr: string;
}

/** Once the screen has shown a text (a regular expression) for the first time after the act before: */
export interface Act {
  readonly after: string;
  readonly resize?: { readonly columns: number; readonly rows: number };
  /** As a key of the terminal would send it. */
  readonly signal?: 'INT' | 'TERM' | 'HUP' | 'STOP' | 'TSTP' | 'CONT';
  /** A shell line, run to its end. */
  readonly shell?: string;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** stderr is this terminal too, and not a file of its own. */
  readonly errorsToo?: boolean;
  readonly acts?: readonly Act[];
}

/** Runs the built `lion` on a real terminal of so many columns that nobody types at. */
export async function lionOnTerminal(
  world: World,
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<TerminalRun> {
  const spec = {
    argv: [process.execPath, LION_MAIN, ...args],
    env: { TERM: 'xterm-256color', ...world.env, ...options.env },
    cwd: world.cwd,
    columns: options.columns ?? 80,
    rows: options.rows ?? 24,
    errors_too: options.errorsToo ?? false,
    acts: options.acts ?? [],
  };
  const { exit_code, screen, stderr } = JSON.parse(await runPython(PTY, { input: JSON.stringify(spec) }));
  return {
    exitCode: exit_code,
    screen: Buffer.from(screen, 'base64').toString('utf8'),
    stderr: Buffer.from(stderr, 'base64').toString('utf8'),
  };
}

const PTY = `
import base64, fcntl, json, os, re, signal, struct, subprocess, sys, termios, tempfile
spec = json.load(sys.stdin)
master, slave = os.openpty()
def resize(columns, rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
resize(spec["columns"], spec["rows"])
mode = termios.tcgetattr(slave)
mode[1] &= ~termios.OPOST
termios.tcsetattr(slave, termios.TCSANOW, mode)
errors = tempfile.TemporaryFile()
child = subprocess.Popen(spec["argv"], stdin=slave, stdout=slave, stderr=slave if spec["errors_too"] else errors,
                         env=spec["env"], cwd=spec["cwd"],
                         preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
os.close(slave)
acts = spec["acts"]
seen, looked = b"", 0
while True:
    try:
        got = os.read(master, 65536)
    except OSError:
        break
    if not got:
        break
    seen += got
    while acts:
        found = re.search(acts[0]["after"].encode(), seen[looked:], re.S)
        if not found:
            break
        looked += found.end()
        act = acts.pop(0)
        if "resize" in act:
            resize(**act["resize"])
        if "shell" in act:
            subprocess.run(["/bin/sh", "-c", act["shell"]], check=True, stdout=subprocess.DEVNULL)
        if "signal" in act:
            os.kill(child.pid, getattr(signal, "SIG" + act["signal"]))
code = child.wait()
errors.seek(0)
print(json.dumps({"exit_code": code, "screen": base64.b64encode(seen).decode(),
                  "stderr": base64.b64encode(errors.read()).decode()}))
`;
