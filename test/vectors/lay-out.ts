import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Json, JsonNumber, type JsonObject } from '../support/json-tree.ts';
import { throughMaskedStat } from '../support/privileges.ts';
import {
  startGroupSurvivors,
  startSleeper,
  startUncollected,
  startZombie,
  type WatchedProcess,
} from '../support/processes.ts';
import { PYTHON } from '../support/python.ts';
import { writePythonJson } from '../support/python-json.ts';
import { makeWorld, type World } from '../support/world.ts';
import { dataFile, numberIn, objectIn, textIn, type Vector } from './load.ts';
import { type Facts, fillObject, fillRaw, fillText, fillValue } from './placeholders.ts';

/** A vector's situation on disk, with its process. */
export interface LaidOut {
  world: World;
  facts: Facts;
  runId: string;
  /** What the record points at; null where no process was started for it. */
  process: WatchedProcess | null;
  jobDir: string;
  recordFile: string;
  /** job.json as laid out; null where there is none that can be read. */
  before: Buffer | null;
  liLog: string;
  notifierLog: string;
  uid: number | undefined;
  through: string[] | undefined;
}

/** The start time and pid of a process that no Linux can have. */
const NEVER = { pid: 1_999_999_999, pgid: 1_999_999_999, createTime: 1_790_000_000.25 };

/** The mode in which the recorder wrote job.json, whatever our umask is. */
const RECORD_MODE = 0o644;

export async function layOut(vector: Vector): Promise<LaidOut> {
  const world = await makeWorld({ lionagiHome: 'beside_home' });
  try {
    return await layOutIn(world, vector);
  } catch (error) {
    await world.dispose();
    throw error;
  }
}

async function layOutIn(world: World, vector: Vector): Promise<LaidOut> {
  const fakeLi = join(world.root, 'fake_li.py');
  copyFileSync(dataFile('fake_li.py'), fakeLi);
  for (const name of ['notifier', 'kkernel']) {
    copyFileSync(dataFile('notifier.py'), join(world.bin, name));
    chmodSync(join(world.bin, name), 0o755);
  }
  const started = await processOf(vector);
  if (started) world.onDispose(started.stop);
  const jobDir = join(world.jobs, vector.runId);
  const names = { ...namesOf(world, vector, jobDir), FAKE_LI: fakeLi, PYTHON };
  const facts: Facts = { ...(started ?? NEVER), nowMs: Date.now(), names };

  for (const [path, what] of vector.files) layFile(fillText(path, facts), what, facts);
  if (vector.jobsDirPresent) mkdirSync(world.jobs, { recursive: true });
  for (const [name, record] of vector.otherRecords)
    writeFile(join(world.jobs, name, 'job.json'), writePythonJson(fillValue(record, facts)), RECORD_MODE);
  const recordFile = join(jobDir, 'job.json');
  const record = recordBytes(vector, facts);
  if (record) writeFile(recordFile, record, RECORD_MODE);

  const [liLog, notifierLog] = [join(world.root, 'li.log'), join(world.root, 'notifier.log')];
  const answer = join(world.root, 'li-answer.json');
  if (vector.lifecycle !== 'unavailable')
    writeFileSync(answer, writePythonJson(answerOf(objectIn(vector.lifecycle), vector.runId)));
  Object.assign(world.env, {
    LIONAGI_MCP_LI_BIN: `${PYTHON} ${fakeLi}`,
    FAKE_LI_ANSWER: answer,
    FAKE_LI_LOG: liLog,
    NOTIFIER_LOG: notifierLog,
    ...Object.fromEntries([...vector.env].map(([key, value]) => [key, fillText(value, facts)])),
  });
  return {
    world,
    facts,
    runId: vector.runId,
    process: started,
    jobDir,
    recordFile,
    before: bytesOf(recordFile),
    liLog,
    notifierLog,
    ...asWhom(vector, world, started),
  };
}

async function processOf(vector: Vector): Promise<WatchedProcess | null> {
  const { kind, members = [] } = vector.process;
  const mark = markOf(vector.process.mark, vector.runId);
  if (kind === 'none_ever' || kind === 'unaskable') return null;
  if (kind === 'zombie') return startZombie(mark);
  if (kind === 'group_survivors') return startGroupSurvivors(members.map((one) => markOf(one, vector.runId)));
  if (!kind.startsWith('live_')) throw new Error(`a process that is not known: ${kind}`);
  // Between the calls of a sequence the recorder did not collect what it had killed.
  return vector.calls.some(([verb]) => verb === 'kill') ? startUncollected(mark) : startSleeper(mark);
}

/** The run's own mark, none, or the mark of the run that is named. */
function markOf(mark: string, runId: string): string | null {
  if (mark === 'none') return null;
  return mark === 'own' ? runId : mark;
}

function namesOf(world: World, vector: Vector, jobDir: string): Record<string, string> {
  return {
    RUN: vector.runId,
    JOBDIR: jobDir,
    JOBS: world.jobs,
    LIONAGI_HOME: world.lionagiHome,
    HOME: world.home,
    CWD: world.cwd,
    BIN: world.bin,
    WORK: world.work,
  };
}

function recordBytes(vector: Vector, facts: Facts): Buffer | null {
  if (vector.record) return Buffer.from(writePythonJson(fillObject(vector.record, facts)));
  if (vector.raw !== null) return Buffer.from(fillRaw(vector.raw, facts));
  return vector.rawHex === null ? null : Buffer.from(vector.rawHex, 'hex');
}

function layFile(path: string, what: Json, facts: Facts): void {
  if (typeof what === 'string') {
    writeFile(path, fillText(what, facts));
    return;
  }
  const spec = objectIn(what);
  if (spec.has('dir')) {
    mkdirSync(path, { recursive: true });
  } else if (spec.has('symlink')) {
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(fillText(textIn(spec.get('symlink')), facts), path);
  } else {
    const mode = spec.has('mode') ? Number.parseInt(textIn(spec.get('mode')), 8) : undefined;
    writeFile(path, contentOf(spec, facts), mode);
  }
}

function contentOf(spec: JsonObject, facts: Facts): string | Buffer {
  if (spec.has('text')) return fillText(textIn(spec.get('text')), facts);
  if (spec.has('hex')) return Buffer.from(textIn(spec.get('hex')), 'hex');
  if (spec.has('json')) return writePythonJson(fillValue(spec.get('json') ?? null, facts));
  const repeat = spec.get('repeat');
  if (!Array.isArray(repeat)) throw new Error('a file of a kind that is not known');
  return textIn(repeat[0]).repeat(numberIn(repeat[1]));
}

function writeFile(path: string, content: string | Buffer, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (mode !== undefined) chmodSync(path, mode);
}

/** What the fake `li` reads its answer from. */
function answerOf(lifecycle: JsonObject, runId: string): JsonObject {
  if (!lifecycle.has('value')) return padded(lifecycle);
  const value = lifecycle.get('value') ?? null;
  const data: JsonObject = new Map<string, Json>([
    ['run_id', runId],
    [
      'lifecycle',
      new Map<string, Json>([
        ['available', true],
        ['value', value],
      ]),
    ],
  ]);
  const envelope: JsonObject = new Map<string, Json>([
    ['ok', true],
    ['contract_version', new JsonNumber('1')],
    ['data', data],
    ['error', null],
  ]);
  const answer: JsonObject = new Map([['stdout', writePythonJson(envelope)]]);
  return lifecycle.has('exit') ? answer.set('exit', lifecycle.get('exit') ?? null) : answer;
}

function padded(lifecycle: JsonObject): JsonObject {
  if (!lifecycle.has('pad_to')) return lifecycle;
  const stdout = textIn(lifecycle.get('stdout'));
  const blanks = numberIn(lifecycle.get('pad_to')) - Buffer.byteLength(stdout);
  return new Map([...lifecycle]).set('stdout', stdout + ' '.repeat(blanks));
}

function asWhom(
  vector: Vector,
  world: World,
  started: WatchedProcess | null,
): Pick<LaidOut, 'uid' | 'through'> {
  if (vector.asUid === null) return { uid: undefined, through: undefined };
  execFileSync('chown', ['-R', `${vector.asUid}:${vector.asUid}`, world.root]);
  if (vector.maskStat === false) return { uid: vector.asUid, through: undefined };
  const pid = vector.maskStat === 'member' ? started?.members[0] : started?.pid;
  if (pid === undefined) throw new Error('there is no process to mask');
  return { uid: undefined, through: throughMaskedStat(world.root, pid, vector.asUid) };
}

/** The bytes of a file; null where there is no such file, or none to read. */
export function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP'].includes(code)) return null;
    throw error;
  }
}
