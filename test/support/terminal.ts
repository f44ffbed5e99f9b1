import { LION_MAIN } from './lion.ts';
import { runPython } from './python.ts';
import type { World } from './world.ts';

export interface TerminalRun {
  readonly exitCode: number;
  /** What reached the terminal from stdout, byte for byte: it does not translate line ends. */
  readonly screen: string;
  readonly stderr: string;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
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
  };
  const { exit_code, screen, stderr } = JSON.parse(await runPython(PTY, { input: JSON.stringify(spec) }));
  return {
    exitCode: exit_code,
    screen: Buffer.from(screen, 'base64').toString('utf8'),
    stderr: Buffer.from(stderr, 'base64').toString('utf8'),
  };
}

const PTY = `
import base64, fcntl, json, os, struct, subprocess, sys, termios, tempfile
spec = json.load(sys.stdin)
master, slave = os.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, spec["columns"], 0, 0))
mode = termios.tcgetattr(slave)
mode[1] &= ~termios.OPOST
termios.tcsetattr(slave, termios.TCSANOW, mode)
errors = tempfile.TemporaryFile()
child = subprocess.Popen(spec["argv"], stdin=slave, stdout=slave, stderr=errors, env=spec["env"], cwd=spec["cwd"],
                         preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
os.close(slave)
seen = b""
while True:
    try:
        got = os.read(master, 65536)
    except OSError:
        break
    if not got:
        break
    seen += got
code = child.wait()
errors.seek(0)
print(json.dumps({"exit_code": code, "screen": base64.b64encode(seen).decode(),
                  "stderr": base64.b64encode(errors.read()).decode()}))
`;
