import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON } from './python.ts';
import type { World } from './world.ts';

/** One start of a notifier, written before it does anything else. */
export interface NoticeCall {
  readonly pid: number;
  readonly at: number;
  readonly args: string[];
  readonly stdin: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
}

export interface NotifierStandIn {
  /** As `notify_command` of a record holds it. */
  readonly command: string;
  readonly file: string;
  calls(): NoticeCall[];
}

/** A notifier: a real program that notes how it was called, then does what the Python `body` says. */
export function makeNotifier(
  world: World,
  name: string,
  body = '',
  args: readonly string[] = ['{run_id}', '{status}', '{label}'],
): NotifierStandIn {
  const [file, log] = [join(world.bin, name), join(world.root, `${name}.log`)];
  writeFileSync(file, `${NOTIFIER_HEAD.replace('LOG_FILE', JSON.stringify(log))}\n${body}\n`);
  chmodSync(file, 0o755);
  return { command: JSON.stringify([file, ...args]), file, calls: () => linesOf(log) };
}

const NOTIFIER_HEAD = `#!${PYTHON} -S
import json, os, sys, time
noted = {"pid": os.getpid(), "at": time.time(), "args": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(),
         "env": {k: v for k, v in os.environ.items() if k.startswith("LIONAGI_NOTIFY_")}}
fd = os.open(LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(fd, (json.dumps(noted) + "\\n").encode())
os.close(fd)`;

export interface LiCall {
  readonly run: string;
  readonly pid: number;
}

/**
 * The lifecycle store's command: notes which run it was asked about, then does what the Python `body` says.
 * There, \`run\` is the run, \`answer(terminal, status)\` prints a good answer; by itself it knows nothing.
 */
export function makeLi(world: World, body = ''): { calls(): LiCall[] } {
  const [file, log] = [join(world.bin, 'stand-in-li.py'), join(world.root, 'li.log')];
  writeFileSync(file, `${LI_HEAD.replace('LOG_FILE', JSON.stringify(log))}\n${body}\n`);
  world.env.LIONAGI_MCP_LI_BIN = `${PYTHON} -S ${file}`;
  return { calls: () => linesOf(log) };
}

const LI_HEAD = `import json, os, sys, time
run = sys.argv[2]
fd = os.open(LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(fd, (json.dumps({"run": run, "pid": os.getpid()}) + "\\n").encode())
os.close(fd)

def answer(terminal, status):
    value = {"found": True, "terminal": terminal, "status": status, "ended_at": 1790000000.25, "reason_code": None}
    print(json.dumps({"ok": True, "contract_version": 1, "error": None,
                      "data": {"run_id": run, "lifecycle": {"available": True, "value": value}}}), flush=True)
`;

function linesOf<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}
