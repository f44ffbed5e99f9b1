import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PYTHON } from './python.ts';
import { textIn } from './submitted.ts';
import type { World } from './world.ts';

/** How a command found itself started. */
export interface Seen {
  readonly argv: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly pid: number;
  readonly session: number;
  readonly group: number;
  /** Where its descriptors lead, by number. */
  readonly fds: Record<string, string>;
  /** Whether what it prints is appended. */
  readonly appends: boolean;
}

export interface Witness {
  readonly file: string;
  /** What it noted when it was started for this run. */
  of(runId: string, withinMs?: number): Promise<Seen>;
}

/** A command that notes how it was started, then does what the Python `body` says. */
export function makeWitness(world: World, name = 'witness', body = ''): Witness {
  const file = join(world.bin, name);
  const notes = join(world.work, 'notes', name);
  mkdirSync(notes, { recursive: true });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${HEAD.replace('NOTES', JSON.stringify(notes))}\n${body}\n`);
  chmodSync(file, 0o755);
  return { file, of: async (runId, withinMs) => JSON.parse(await textIn(join(notes, runId), withinMs)) };
}

const HEAD = `#!${PYTHON} -S
import fcntl, json, os, signal, sys, time
fds = {}
for fd in os.listdir("/proc/self/fd"):
    try:
        fds[fd] = os.readlink("/proc/self/fd/" + fd)
    except FileNotFoundError:
        pass  # the listing's own
seen = {"argv": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd(), "pid": os.getpid(),
        "session": os.getsid(0), "group": os.getpgrp(), "fds": fds,
        "appends": bool(fcntl.fcntl(1, fcntl.F_GETFL) & os.O_APPEND)}
def note():
    path = os.path.join(NOTES, os.environ["LIONAGI_RUN_ID"])
    with open(path + ".tmp", "w") as file:
        json.dump(seen, file)
    os.rename(path + ".tmp", path)
note()`;
