/** A shell of sorts inside another place, which starts runs there, ends them and asks the built CLI about them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Envelope, LION_MAIN } from '../support/lion.ts';
import type { Layer } from '../support/namespaces.ts';
import { PYTHON } from '../support/python.ts';
import type { World } from '../support/world.ts';

/** A process as its own namespace sees it. */
export interface InnerProcess {
  pid: number;
  ticks: number;
  createTime: number;
}

export interface Inside {
  /** Of the namespace, as the kernel names it. */
  pidNamespace: number;
  /** The first pid inside, seen from outside. */
  pid: number;
  /** A `sleep` with this mark; under this number where one is given. */
  start: (mark: string | null, number?: number) => Promise<InnerProcess>;
  /** Kills it and collects it. */
  kill: (pid: number) => Promise<void>;
  lion: (args: readonly string[]) => Promise<Envelope>;
  /** Ends the place and all that lives in it. */
  end: () => Promise<void>;
}

export async function startInside(world: World, layers: Layer): Promise<Inside> {
  const [program = '', ...args] = [...layers, PYTHON, '-c', DRIVER, process.execPath, LION_MAIN];
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', WORLD: `${world.root}/` },
    cwd: world.cwd,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the driver inside has ended');
    const { ok, failed } = JSON.parse(value);
    if (failed !== undefined) throw new Error(`inside: ${failed}`);
    return ok;
  };
  const ask = async (command: Readonly<Record<string, unknown>>) => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    return answer();
  };
  const { pidNamespace } = await answer();
  return {
    pidNamespace,
    pid: child.pid ?? 0,
    start: (mark, number) => ask({ do: 'start', mark, number: number ?? null }),
    kill: (pid) => ask({ do: 'kill', pid }),
    lion: async (args) => JSON.parse(await ask({ do: 'lion', args, env: world.env })),
    end: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.stdin?.end();
  await gone;
}

const DRIVER = `
import json, os, re, signal, subprocess, sys
node, lion = sys.argv[1:]

def start(command):
    if command["number"]:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:
            last.write(str(command["number"] - 1))
    env = {"PATH": "/usr/bin:/bin"}
    if command["mark"]:
        env["LIONAGI_MCP_JOB_RUN_ID"] = command["mark"]
    pid = os.posix_spawn("/bin/sleep", ["sleep", "3600"], env, setsid=True)
    if command["number"] and pid != command["number"]:
        raise RuntimeError("wanted the number %s and got %s" % (command["number"], pid))
    stat = open("/proc/%s/stat" % pid).read()
    ticks = int(stat[stat.rindex(")") + 2:].split()[19])
    boot = int(re.search("^btime ([0-9]+)$", open("/proc/stat").read(), re.M).group(1))
    return {"pid": pid, "ticks": ticks, "createTime": ticks / os.sysconf("SC_CLK_TCK") + boot}

def kill(command):
    os.kill(command["pid"], signal.SIGKILL)
    os.waitpid(command["pid"], 0)

def ask(command):
    done = subprocess.run([node, lion, *command["args"], "--machine"], env=command["env"], capture_output=True, text=True)
    if not done.stdout:
        raise RuntimeError("lion ended with %s: %s" % (done.returncode, done.stderr[-500:]))
    return done.stdout

print(json.dumps({"ok": {"pidNamespace": os.stat("/proc/self/ns/pid").st_ino}}), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    try:
        print(json.dumps({"ok": {"start": start, "kill": kill, "lion": ask}[command["do"]](command)}), flush=True)
    except Exception as error:
        print(json.dumps({"failed": repr(error)}), flush=True)
`;
