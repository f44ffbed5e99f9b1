import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runAt } from '../support/lay-run.ts';
import { LION_MAIN } from '../support/lion.ts';
import { askData } from '../support/machine.ts';
import { runPython } from '../support/python.ts';
import { ended, logOf, recordNow } from '../support/submitted.ts';

/** How the caller of a submission ends, and whether it stays with the run until then. */
const ENDS: readonly (readonly [string, { how: string; wait: boolean }])[] = [
  ['the terminal it was submitted from is closed', { how: 'close', wait: false }],
  ['the terminal is closed while `--wait` stays with it', { how: 'close', wait: true }],
  ['its parent shell is killed with -9', { how: 'kill-shell', wait: false }],
  ['its parent shell is killed with -9 while `--wait` stays with it', { how: 'kill-shell', wait: true }],
  ['everything in the session of its submitter gets HUP', { how: 'hup-session', wait: false }],
  ['everything in that session gets HUP while `--wait` stays with it', { how: 'hup-session', wait: true }],
  ['the group of its submitter gets KILL', { how: 'kill-group', wait: true }],
  ['Ctrl-C is typed at its terminal', { how: 'ctrl-c', wait: true }],
];

describe.concurrent('ADR-0106 D5: a run outlives whoever submitted it', () => {
  it.each(ENDS)('%s: it lives on and its log is complete', async (_what, { how, wait }) => {
    await inWorld(async (world) => {
      const go = join(world.root, 'go');
      const script = 'seq 1000; until [ -e "$1" ]; do sleep 0.02; done; seq 1001 2000; exit 3';
      const argv = ['job', 'submit', ...(wait ? ['--wait'] : []), '--', 'sh', '-c', script, 'sh', go];
      const spec = { how, lion: [process.execPath, LION_MAIN, ...argv], env: world.env, cwd: world.cwd };
      const told = JSON.parse(
        await runPython(CALLER, { input: JSON.stringify({ ...spec, jobs: world.jobs }) }),
      );
      const run = { ...runAt(join(world.jobs, told.run_id), told.run_id), pid: 0 };
      const { pid, log } = recordNow(run) as { pid: number; log: string };
      const status = await askData(world, ['job', 'status', run.runId]);
      expect(status).toMatchObject({ terminal: false, alive: true, pid });
      writeFileSync(go, '');
      expect(await ended(run)).toMatchObject({ exit_code: 3, terminal_source: 'cli_terminal_hook' });
      const numbers = Array.from({ length: 2000 }, (_, at) => `${at + 1}\n`).join('');
      expect(logOf({ ...run, log })).toBe(numbers);
      if (how === 'ctrl-c') {
        expect(told.screen).toContain(`lion job wait ${run.runId}`);
        expect(told.exit_code).toBe(130);
      } else {
        expect(told.exit_code).toBeLessThan(0);
      }
    });
  });
});

/**
 * A shell on a terminal of its own, which calls lion and stays. When the run is on the record as started, the
 * caller ends as it is told to; prints {run_id, exit_code, screen}.
 */
const CALLER = `
import json, os, pty, select, signal, sys, time
spec = json.load(sys.stdin)
pid, master = pty.fork()
if pid == 0:
    os.chdir(spec["cwd"])
    line = '"$@"; code=$?; [ "$code" -eq 130 ] && exit 130; sleep 300'
    if spec["how"] == "ctrl-c":
        line = 'trap : INT; ' + line
    os.execve("/bin/sh", ["sh", "-c", line, "sh", *spec["lion"]], spec["env"])

screen = b""
def look(seconds):
    global screen
    if select.select([master], [], [], seconds)[0]:
        try:
            screen += os.read(master, 65536)
        except OSError:
            return False
    return True

def started():
    for run_id in (os.listdir(spec["jobs"]) if os.path.isdir(spec["jobs"]) else []):
        run_dir = os.path.join(spec["jobs"], run_id)
        try:
            record = json.load(open(run_dir + "/job.json"))
        except OSError:
            continue
        if record["spawn_state"] == "started" and open(run_dir + "/console.log").read().endswith("1000\\n"):
            return run_id

deadline = time.time() + 30
while not (run_id := started()):
    look(0.02)
    if time.time() > deadline:
        sys.exit("no run: " + screen.decode())
quiet = time.time() + 0.4
while time.time() < quiet:
    look(0.05)

how = spec["how"]
if how == "close":
    os.close(master)
elif how == "kill-shell":
    os.kill(pid, signal.SIGKILL)
elif how == "kill-group":
    os.killpg(pid, signal.SIGKILL)
elif how == "hup-session":
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == pid:
                os.kill(int(name), signal.SIGHUP)
        except ProcessLookupError:
            pass
elif how == "ctrl-c":
    os.write(master, b"\\x03")
    while look(0.2) and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        pass
ended = os.waitpid(pid, 0)[1]
# A shell killed alone leaves what it had started to its terminal, which ends now.
if how != "close":
    while look(0):
        if not select.select([master], [], [], 0)[0]:
            break
    os.close(master)
print(json.dumps({"run_id": run_id, "exit_code": os.waitstatus_to_exitcode(ended), "screen": screen.decode()}))
`;
