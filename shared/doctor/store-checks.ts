/** What a store needs of the directories and the filesystem it lies on. */
import { accessSync, closeSync, constants, openSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';
import { runChild } from '../process/run-child.ts';
import { placeFault } from '../store/place.ts';
import { type Finding, fault, good, note, type Place, unknown } from './finding.ts';

const PYTHON_TIMEOUT_MS = 3_000;
/** Small beside what the kernel gives in a second, and enough to meet a rename half done. */
const RENAMES = 200;
const READS_UNDER_WAY = 4;
/** A filesystem whose clock differs by more than this is another machine's. */
const MOST_SKEW_MS = 2_000;

export function storeDirectory({ engine: { home } }: Place): Finding {
  const { jobsDir } = home;
  const found = statSync(jobsDir, { throwIfNoEntry: false });
  if (found === undefined) return note('store', `${jobsDir} is not there: nothing was submitted yet`, null);
  if (!found.isDirectory()) return fault('store', `${jobsDir} is no directory`, 'move it away');
  try {
    accessSync(jobsDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const cure = `give it back to its user: chown and chmod u+rwx ${jobsDir}`;
    return fault('store', `${jobsDir} cannot be read and written: ${errnoOf(error)}`, cure);
  }
  return good('store', jobsDir);
}

/** Records hold command lines and prompts. */
export function permissions({ engine: { home } }: Place): Finding {
  const open = [home.jobsDir, home.stateDir].filter((path) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    return (mode & 0o077) !== 0;
  });
  if (open.length === 0) return good('permissions', 'nobody else can read the store');
  return note(
    'permissions',
    `other users of this machine can look into ${open.join(' and ')}`,
    `chmod 700 ${open.join(' ')}`,
  );
}

export function filesystem({ engine: { home, config } }: Place): Finding {
  if (statSync(home.stateDir, { throwIfNoEntry: false }) === undefined) {
    return unknown('filesystem', `${home.stateDir} is not there yet`);
  }
  const misplaced = placeFault(home, config);
  if (misplaced !== null)
    return note('filesystem', misplaced, 'a supervisor does not start there; lion works');
  return good('filesystem', 'local, or used from this place only as liond.yaml says');
}

/** A reader must find the old record or the new one, and never none or a part. */
export async function renames({ scratch }: Place): Promise<Finding> {
  if (scratch === null) return unknown('rename', 'there is no place to try it');
  const path = join(scratch, 'job.json');
  const bodyOf = (at: number): string => JSON.stringify({ at, filler: 'x'.repeat(8_000) });
  writeFileSync(path, bodyOf(0));
  let reading: Promise<string>[] = [];
  for (let at = 1; at <= RENAMES; at++) {
    reading.push(readFile(path, 'utf8'));
    writeFileSync(`${path}.next`, bodyOf(at));
    renameSync(`${path}.next`, path);
    if (reading.length < READS_UNDER_WAY) continue;
    const torn = await tornIn(reading);
    if (torn !== null) return fault('rename', torn, 'move the store to a local filesystem (LIONAGI_HOME)');
    reading = [];
  }
  return good('rename', `a record replaced ${RENAMES} times while it was read was always whole`);
}

async function tornIn(reading: readonly Promise<string>[]): Promise<string | null> {
  for (const read of await Promise.allSettled(reading)) {
    if (read.status === 'rejected')
      return `a record that is replaced cannot be read: ${errnoOf(read.reason)}`;
    try {
      JSON.parse(read.value);
    } catch {
      return 'a record that is replaced is read in part';
    }
  }
  return null;
}

export function fileClock({ scratch, engine }: Place): Finding {
  if (scratch === null) return unknown('file_clock', 'there is no place to try it');
  const path = join(scratch, 'now');
  const before = engine.now();
  writeFileSync(path, '');
  const skewMs = statSync(path).mtimeMs - before;
  if (Math.abs(skewMs) <= MOST_SKEW_MS) return good('file_clock', 'files get the time of this machine');
  return note(
    'file_clock',
    `files get a time ${Math.round(skewMs / 1000)} s from this machine's`,
    'set both clocks by NTP: ages and waits of young runs are off by that much',
  );
}

/** Python programs take the same lock: each must see the other's. */
export async function lock({ scratch, engine }: Place): Promise<Finding> {
  if (scratch === null) return unknown('lock', 'there is no place to try it');
  const { tryExclusive } = await import('../lock/flock.ts');
  const path = join(scratch, 'job.lock');
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const cure = 'move the store to a filesystem with flock(2) (LIONAGI_HOME)';
  try {
    const taken = tryExclusive(fd);
    if (taken !== 'taken')
      return fault('lock', `a file of the store cannot be locked: ${JSON.stringify(taken)}`, cure);
    const held = await askPython(engine, path);
    if (held === null) return good('lock', 'flock works; there is no python3 to try it against');
    if (held !== 'busy') return fault('lock', `python3 does not see a lock of lion (${held})`, cure);
  } finally {
    closeSync(fd);
  }
  const free = await askPython(engine, path);
  if (free !== 'taken') return fault('lock', `python3 cannot take a lock that lion let go (${free})`, cure);
  return good('lock', 'flock works, and python3 and lion see each other');
}

const PYTHON_LOCK = `
import fcntl, sys
try:
    fcntl.flock(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("taken")
except BlockingIOError:
    print("busy")
`;

/** Null: there is no python3. */
async function askPython(engine: Place['engine'], path: string): Promise<string | null> {
  const result = await runChild({
    program: 'python3',
    args: ['-I', '-c', PYTHON_LOCK, path],
    cwd: '/',
    env: engine.env,
    stdin: null,
    timeoutMs: PYTHON_TIMEOUT_MS,
    maxOutputBytes: 1_000,
    signal: engine.signal,
  });
  if (result.kind === 'not_started') return null;
  if (result.kind === 'ended') return `no answer within ${PYTHON_TIMEOUT_MS / 1000} s`;
  return result.stdout.toString().trim() || 'no answer';
}
