import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { runAt } from '../support/lay-run.ts';
import { ask, askData } from '../support/machine.ts';
import { whyNoMountNamespace } from '../support/privileges.ts';
import { isThere } from '../support/processes.ts';
import { PYTHON, runPython } from '../support/python.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { makeNotifier } from '../support/stand-ins.ts';
import {
  ended,
  logOf,
  recordNow,
  runOf,
  type SubmittedRun,
  submitCommand,
  textIn,
} from '../support/submitted.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeWitness } from '../support/witness.ts';
import type { World } from '../support/world.ts';

const PAGE = 4096;
const ROUNDS = 50;
const AT_ONCE = 5;

describe('ADR-0106 D5, ADR-0107 D5: attaching the pid never undoes an end', () => {
  it(`a command that ends at once has one end, its pid and its start, ${ROUNDS} times over`, async () => {
    await inWorld(async (world) => {
      await inRounds(ROUNDS, async () => {
        const run = await submitCommand(world, ['true']);
        const end = await ended(run);
        await waitUntil('the run to be gone', () => !isThere(run.pid));
        expect(recordNow(run)).toEqual(end);
        expect(end).toMatchObject({ pid: run.pid, pgid: run.pid, spawn_state: 'started', exit_code: 0 });
        expect(end).toMatchObject({ status: 'completed', terminal_source: 'cli_terminal_hook' });
        expect(end).not.toHaveProperty('late_report');
      });
    });
  });

  it(`an li that writes its end as soon as it lives keeps it, ${ROUNDS / 2} times over`, async () => {
    await inWorld(async (world) => {
      const li = makeLiThatEnds(world);
      await inRounds(ROUNDS / 2, async () => {
        const env = { ...world.env, LIONAGI_MCP_LI_BIN: li };
        const run = runOf(world, await askData(world, ['agent', '--detach', '--no-mcp'], { env }));
        const wrote = JSON.parse(await textIn(join(run.dir, 'wrote')));
        expect(recordNow(run)).toMatchObject({ ...wrote, pid: run.pid, spawn_state: 'started' });
      });
    });
  });

  it('an end that is written before the pid is attached stands, whole', async () => {
    await inWorld(async (world) => {
      mkdirSync(world.jobs, { recursive: true });
      const go = join(world.root, 'go');
      let before = 0;
      for (let round = 1; round <= 20 && before < 4; round += 1) {
        const ending = runPython(END_BEFORE_THE_PID, { args: [world.jobs, go] });
        const run = await submitCommand(world, [
          'sh',
          '-c',
          'until [ -e "$1" ]; do sleep 0.02; done',
          'sh',
          go,
        ]);
        const wrote = JSON.parse(await ending);
        if (wrote.pid === null) before += 1;
        expect(recordNow(run)).toMatchObject({ ...wrote, pid: run.pid, spawn_state: 'started' });
        writeFileSync(go, '');
        await waitUntil('the run to be gone', () => !isThere(run.pid));
        // Its own report comes second, and an end that was reported is not reported again.
        expect(recordNow(run)).toMatchObject({ finished_at: wrote.finished_at, status: 'completed_empty' });
      }
      expect(before).toBeGreaterThan(0);
    });
  });

  it('a pid that cannot be attached is told, and the run still reports its own end', async () => {
    await inWorld(async (world) => {
      const go = join(world.root, 'go');
      mkdirSync(world.jobs, { recursive: true });
      const holding = runPython(HOLD_THE_NEXT, { args: [world.jobs, go] });
      const argv = ['sh', '-c', 'until [ -e "$1" ]; do sleep 0.02; done; exit 3', 'sh', go];
      const envelope = await ask(world, ['job', 'submit', '--', ...argv]);
      expect(envelope.error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/pid \d+/),
      });
      const runId: string = envelope.error?.detail.run_id;
      const run = runAt(join(world.jobs, runId), runId);
      writeFileSync(go, '');
      await holding;
      expect(await ended(run)).toMatchObject({ pid: null, spawn_state: 'preparing', exit_code: 3 });
      const status = await askData(world, ['job', 'status', runId]);
      expect(status).toMatchObject({ terminal: true, outcome: 'failed', preparing_age_seconds: null });
    });
  });
});

describe('ADR-0106 D5: a disk that takes a record once and not twice', () => {
  it('has its submitter told that the pid is not on the record; the run lives and reports its end', async ({
    skip,
  }) => {
    const why = whyNoMountNamespace();
    if (why !== null) skip(why);
    await inWorld(async (world) => {
      const disk = await mountSmallDisk(world, 64 * PAGE);
      mkdirSync(join(disk, 'mcp', 'jobs'), { recursive: true });
      writeFileSync(join(disk, 'fill'), Buffer.alloc(64 * PAGE - 22 * PAGE));
      const go = join(world.root, 'go');
      const argv = [
        'sh',
        '-c',
        'until [ -e "$1" ]; do sleep 0.02; done; exit 3',
        'sh',
        go,
        'y'.repeat(15 * PAGE),
      ];
      const env = { ...world.env, LIONAGI_HOME: disk };
      const envelope = await ask(world, ['job', 'submit', '--', ...argv], { env });
      expect(envelope.error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('ENOSPC'),
      });
      const runId: string = envelope.error?.detail.run_id;
      const run = runAt(join(disk, 'mcp', 'jobs', runId), runId);
      expect(recordNow(run)).toMatchObject({ spawn_state: 'preparing', pid: null, finished_at: null });
      expect(readdirSync(run.dir).sort()).toEqual(['console.log', 'job.json', 'job.lock']);
      rmSync(join(disk, 'fill'));
      writeFileSync(go, '');
      expect(await ended(run)).toMatchObject({ exit_code: 3, terminal_source: 'cli_terminal_hook' });
    });
  });
});

describe.concurrent('ADR-0106 D5, D7: the end is reported by the run itself', () => {
  const endings: readonly (readonly [string, readonly string[], string])[] = [
    ['a success', ['true'], 'completed'],
    ['a failure', ['false'], 'failed'],
  ];
  it.each(endings)('with its notice, after %s', async (_what, argv, status) => {
    await inWorld(async (world) => {
      const words = ['{run_id}', '{status}', '{label}', '{target}', '{sender}'];
      const notifier = makeNotifier(world, 'notifier', '', words);
      const options = ['--label', 'a label', '--notify-command', notifier.command];
      const toWhom = ['--notify-target', 'someone', '--notify-sender', 'me', '--cwd', world.work];
      const run = await submitCommand(world, argv, [...options, ...toWhom]);
      await waitUntil('the notice to be delivered', () => {
        const { notify_delivery } = recordNow(run);
        return (notify_delivery as { ok?: boolean } | null)?.ok === true;
      });
      await waitUntil('the run to be gone', () => !isThere(run.pid));
      const [call, ...more] = notifier.calls();
      expect(more).toEqual([]);
      expect(call?.args).toEqual([run.runId, status, 'a label', 'someone', 'me']);
      expect(call?.cwd).toBe(world.cwd);
      expect(recordNow(run)).toMatchObject({ status, terminal_source: 'cli_terminal_hook' });
    });
  });

  it('with the notice that the settings of its own directory ask for, however that directory was named', async () => {
    await inWorld(async (world) => {
      const notifier = makeNotifier(world, 'notifier');
      const project = join(world.cwd, 'project');
      mkdirSync(join(project, '.lionagi'), { recursive: true });
      const settings = `notify:\n  on_terminal: '${notifier.file} {run_id}'\n`;
      writeFileSync(join(project, '.lionagi', 'settings.yaml'), settings);
      for (const cwd of [project, 'project', './project/../project']) {
        const run = await submitCommand(world, ['true'], ['--cwd', cwd]);
        await ended(run);
        await waitUntil('the run to be gone', () => !isThere(run.pid));
        expect([cwd, notifier.calls().map((call) => call.args)[0]]).toEqual([cwd, [run.runId]]);
        writeFileSync(join(world.root, 'notifier.log'), '');
      }
    });
  });

  it('after it removed the directory it ran in', async () => {
    await inWorld(async (world) => {
      const directory = join(world.work, 'worktree');
      mkdirSync(directory);
      const run = await submitCommand(world, ['rm', '-r', directory], ['--cwd', directory]);
      expect(await ended(run, 10_000)).toMatchObject({ status: 'completed', exit_code: 0 });
      expect(logOf(run)).toBe('');
    });
  });

  const homes: readonly (readonly [string, string, (world: World) => string])[] = [
    ['relative', '../home/there', (world) => join(world.home, 'there')],
    ['named from the home', '~/there', (world) => join(world.home, 'there')],
    ['not named at all', '', (world) => join(world.home, '.lionagi')],
  ];
  it.each(homes)('to the same store where LIONAGI_HOME is %s', async (_what, named, meant) => {
    await inWorld(async (world) => {
      const env = { ...world.env, LIONAGI_HOME: named };
      const witness = makeWitness(world);
      const options = ['--cwd', world.work];
      const handle = await askData(world, ['job', 'submit', ...options, '--', witness.file], { env });
      const dir = join(meant(world), 'mcp', 'jobs', handle.run_id);
      expect([handle.job_dir, handle.log]).toEqual([dir, join(dir, 'console.log')]);
      const run = runAt(dir, handle.run_id);
      expect(await ended(run)).toMatchObject({ exit_code: 0, terminal_source: 'cli_terminal_hook' });
      const seen = await witness.of(handle.run_id);
      expect(seen.env.LIONAGI_MCP_CAUSE_FILE).toBe(join(dir, 'terminal_cause.json'));
      if (named !== '') expect(seen.env.LIONAGI_HOME).toBe(meant(world));
    });
  });
});

/** What may be sent to the whole group of a run, by `lion job kill --signal` or by a terminal. */
const SIGNALS = [
  ['TERM', 15],
  ['INT', 2],
  ['HUP', 1],
  ['QUIT', 3],
  ['USR1', 10],
  ['USR2', 12],
  ['ALRM', 14],
] as const;

describe.concurrent('ADR-0106 D5: a signal to the whole group of a run', () => {
  it.each(SIGNALS)('%s ends its command, and the run reports that', async (name, number) => {
    await inWorld(async (world) => {
      const body = `import resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGINT, signal.SIG_DFL)\nseen["ready"] = True\nnote()\ntime.sleep(60)`;
      const run = await submitCommand(world, [makeWitness(world, 'sleeper', body).file]);
      await readyForSignals(world, run, 'sleeper');
      process.kill(-run.pid, `SIG${name}`);
      const record = await ended(run, 10_000);
      expect(record).toMatchObject({ status: 'failed', exit_code: 128 + number });
      expect(record.terminal_source).toBe('cli_terminal_hook');
    });
  });

  it.each([[0], [20], [60]])(
    'TERM that comes again and again, %i ms apart, changes nothing about that',
    async (apartMs) => {
      await inWorld(async (world) => {
        const run = await submitCommand(world, ['sleep', '60']);
        await waitUntil('the command to run', () => hasChild(run.pid));
        for (let time = 1; time <= 3; time += 1) {
          if (isThere(run.pid)) process.kill(-run.pid, 'SIGTERM');
          await sleep(apartMs);
        }
        expect(await ended(run, 10_000)).toMatchObject({
          exit_code: 143,
          terminal_source: 'cli_terminal_hook',
        });
      });
    },
  );

  it.each(SIGNALS)(
    '%s that its command handles ends nothing: the run lives until the command does',
    async (name) => {
      await inWorld(async (world) => {
        const body = `got = []
signal.signal(signal.SIG${name}, lambda *_: got.append(1))
seen["ready"] = True
note()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
print("got", len(got))`;
        const go = join(world.root, 'go');
        const run = await submitCommand(world, [makeWitness(world, 'handler', body).file, go]);
        await readyForSignals(world, run, 'handler');
        process.kill(-run.pid, `SIG${name}`);
        // Long enough for a wrapper that the signal ends to be gone.
        await sleep(300);
        const status = await askData(world, ['job', 'status', run.runId]);
        writeFileSync(go, '');
        expect(status).toMatchObject({ terminal: false, alive: true, status: 'running' });
        expect(await ended(run, 10_000)).toMatchObject({ status: 'completed', exit_code: 0 });
        expect(logOf(run)).toBe('got 1\n');
      });
    },
  );
});

/** The command has noted itself for the last time: what it does about signals is set by then. */
async function readyForSignals(world: World, run: SubmittedRun, name: string): Promise<void> {
  const note = join(world.work, 'notes', name, run.runId);
  await waitUntil(
    'the command to be ready',
    async () => (await textIn(note)).includes('"ready": true'),
    20_000,
  );
}

function hasChild(pid: number): boolean {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8') !== '';
}

async function inRounds(rounds: number, round: () => Promise<void>): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < rounds) {
      next += 1;
      await round();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
}

/** An `li` that ends its run itself, under the lock, and leaves beside the record what it wrote. */
function makeLiThatEnds(world: World): string {
  const file = join(world.bin, 'li.py');
  writeFileSync(
    file,
    `${WRITE_END}
run_dir = os.path.dirname(os.environ["LIONAGI_MCP_CAUSE_FILE"])
fd = os.open(run_dir + "/job.lock", os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
wrote = write_end(run_dir)
with open(run_dir + "/wrote.tmp", "w") as file:
    json.dump({key: wrote[key] for key in ENDED}, file)
os.close(fd)
# The submitter may still have its part to write.
while json.load(open(run_dir + "/job.json"))["pid"] is None:
    time.sleep(0.005)
os.rename(run_dir + "/wrote.tmp", run_dir + "/wrote")
`,
  );
  return `${PYTHON} -S ${file}`;
}

const WRITE_END = `
import fcntl, json, os, sys, time
ENDED = ("finished_at", "status", "terminal_source", "reason_code", "cli_status", "notify_delivery", "theirs")
def write_end(run_dir):
    with open(run_dir + "/job.json") as file:
        record = json.load(file)
    record.update({"finished_at": "2026-12-01T00:00:00.000001+00:00", "status": "completed_empty",
                   "reason_code": "no_artifacts", "cli_status": "completed_empty",
                   "terminal_source": "cli_terminal_hook", "finished_at_precision": "observed",
                   "notify_delivery": {"attempted": True, "ok": True, "exit_code": 0}, "theirs": [1, {"x": None}]})
    with open(run_dir + "/.theirs.tmp", "w") as file:
        json.dump(record, file, indent=2)
    os.rename(run_dir + "/.theirs.tmp", run_dir + "/job.json")
    return record
`;

/** Holds the lock of the next run from the moment its directory is there; prints its directory. */
const HOLD = `
import fcntl, json, os, sys, time
jobs, go = sys.argv[1:3]
def names():
    try:
        return set(os.listdir(jobs))
    except FileNotFoundError:
        return set()
known = names()
while not (new := names() - known):
    pass
run_dir = os.path.join(jobs, new.pop())
fd = os.open(run_dir + "/job.lock", os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
`;

const HOLD_THE_NEXT = `${HOLD}
while not os.path.exists(go):
    time.sleep(0.02)
`;

/** Ends the next run while its submitter waits for the lock to attach the pid; prints the record it wrote. */
const END_BEFORE_THE_PID = `${WRITE_END}${HOLD}
if os.path.exists(go):
    os.remove(go)
def has_child():
    mark = b"LIONAGI_MCP_JOB_RUN_ID=" + os.path.basename(run_dir).encode()
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and mark in open("/proc/%s/environ" % pid, "rb").read():
                return True
        except OSError:
            pass
    return False
while not os.path.exists(run_dir + "/job.json") or not has_child():
    time.sleep(0.002)
time.sleep(0.05)
wrote = write_end(run_dir)
print(json.dumps({key: wrote[key] for key in ENDED + ("pid",)}))
`;
