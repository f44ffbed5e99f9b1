/**
 * A run from nothing to started (ADR-0106 D5):
 *
 *   validate -> reserve the id (exclusive mkdir) -> files -> record `preparing` -> spawn -> attach pid, `started`
 *
 * Killed before the record: a reservation, which is no run. Killed after it: a `preparing` run, whose child, if
 * there is one, still reports its own end. A refused spawn is a terminal record.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { LionError } from '../contract/errors.ts';
import type { Engine } from '../engine.ts';
import { errnoOf } from '../errno.ts';
import type { Json } from '../json/value.ts';
import { RECORD_STYLE, writeJson } from '../json/write.ts';
import { keepDescriptorsFromChildren } from '../process/close-on-exec.ts';
import { isStartable } from '../process/startable.ts';
import { MARK_VARIABLE } from '../process/table.ts';
import { mutateRecord } from '../record/mutate.ts';
import { publishRecord } from '../record/publish.ts';
import { WRITER_LOCK_WAIT_MS } from '../run/mark-terminal.ts';
import { runDirOf } from '../store/home.ts';
import { formatIso } from '../time/iso.ts';
import { failedFields, preparedRecord, startedFields } from './record.ts';
import type { RunFiles, SubmitRequest } from './request.ts';
import { reserveRun } from './reserve.ts';
import { checkArguments, checkCwd, checkNotifier, checkProgram, checkTags } from './validate.ts';

export interface Submitted {
  readonly files: RunFiles;
  readonly pid: number;
}

/** @throws LionError `invalid_input` before anything is on disk, `unavailable` for what failed after that. */
export async function submitRun(engine: Engine, request: SubmitRequest): Promise<Submitted> {
  checkRequest(engine, request);
  const files = filesOf(engine, reserve(engine));
  const argv = request.argv(files);
  layOut(engine, request, files, argv);
  const spawned = await start(engine, request, files, argv);
  if (typeof spawned !== 'number') return recordFailure(engine, files, spawned.failed);
  await attach(engine, files.runId, spawned);
  return { files, pid: spawned };
}

/** With the names its files will have: an id is as long as any other. */
function checkRequest(engine: Engine, request: SubmitRequest): void {
  const argv = request.argv(filesOf(engine, '00000000T000000-000000'));
  checkArguments([...argv, ...(request.shownArgv ?? [])]);
  checkCwd(engine, request.cwd);
  checkTags(request.tags);
  checkNotifier(engine, request.notifyCommand, request.notifySender);
  const cwd = startDir(engine, request);
  for (const program of programsOf(request, argv)) checkProgram(engine, program, cwd, 'the command');
}

/** What is started, and what that starts in turn. */
function programsOf(request: SubmitRequest, argv: readonly string[]): Set<string> {
  return new Set([argv, request.shownArgv ?? []].flatMap((each) => each.slice(0, 1)));
}

function reserve(engine: Engine): string {
  try {
    return reserveRun(engine.home, engine.now());
  } catch (error) {
    throw unavailable(`no run can be made in ${engine.home.jobsDir}`, error);
  }
}

function filesOf(engine: Engine, runId: string): RunFiles {
  const runDir = runDirOf(engine.home, runId);
  return {
    runId,
    runDir,
    log: join(runDir, 'console.log'),
    promptFile: join(runDir, 'prompt.txt'),
    mcpFile: join(runDir, 'mcp-servers.json'),
  };
}

/** All of it, or none: a reservation that cannot be filled is given back. */
function layOut(engine: Engine, request: SubmitRequest, files: RunFiles, argv: readonly string[]): void {
  try {
    closeSync(openSync(files.log, 'a', 0o600));
    if (request.prompt !== null) writeFileSync(files.promptFile, request.prompt, { mode: 0o600 });
    if (request.mcp?.fileText) writeFileSync(files.mcpFile, request.mcp.fileText, { mode: 0o600 });
    const submitted = { at: formatIso(engine.now()), cwd: engine.cwd };
    publishRecord(
      files.runDir,
      writeJson(preparedRecord(request, files, argv, submitted), RECORD_STYLE),
      null,
    );
  } catch (error) {
    giveBack(files);
    throw unavailable(`the run ${files.runId} could not be written`, error);
  }
}

/** What cannot be removed says so: a directory with this file in it is a submission that never was. */
function giveBack(files: RunFiles): void {
  try {
    rmSync(files.runDir, { recursive: true, force: true });
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    writeFileSync(join(files.runDir, 'submit-abandoned'), `${errnoOf(error)}\n`, { flag: 'a', mode: 0o600 });
  }
}

function start(
  engine: Engine,
  request: SubmitRequest,
  files: RunFiles,
  argv: readonly string[],
): Promise<number | { readonly failed: string }> {
  const cwd = startDir(engine, request);
  const startable = [...programsOf(request, argv)].every((each) => isStartable(each, cwd, engine.env.PATH));
  if (!startable) return Promise.resolve({ failed: 'ENOEXEC' });
  const log = openSync(files.log, 'a');
  keepDescriptorsFromChildren();
  return new Promise((settle) => {
    const fail = (error: unknown): void => settle({ failed: errnoOf(error) ?? String(error) });
    try {
      const child = spawn(argv[0] ?? '', argv.slice(1), {
        cwd,
        env: environmentOf(engine, files),
        stdio: ['ignore', log, log],
        detached: true,
      });
      child.on('error', fail);
      child.on('spawn', () => {
        child.unref();
        settle(child.pid ?? 0);
      });
    } catch (error) {
      fail(error);
    } finally {
      closeSync(log);
    }
  });
}

function environmentOf(engine: Engine, files: RunFiles): NodeJS.ProcessEnv {
  const home = engine.env.LIONAGI_HOME;
  return {
    ...engine.env,
    // The run may start elsewhere: a relative home would then be another one.
    ...(home && !isAbsolute(home) ? { LIONAGI_HOME: engine.home.root } : {}),
    LIONAGI_RUN_ID: files.runId,
    [MARK_VARIABLE]: files.runId,
    LIONAGI_MCP_CAUSE_FILE: join(files.runDir, 'terminal_cause.json'),
  };
}

function startDir(engine: Engine, request: SubmitRequest): string {
  return request.cwd === null ? engine.cwd : resolve(engine.cwd, request.cwd);
}

/** A run whose pid could not be attached lives and will report its own end; its submitter is told. */
async function attach(engine: Engine, runId: string, pid: number): Promise<void> {
  const birth = engine.processes.birthOf(pid);
  const fields = startedFields({ pid, ...birth, origin: engine.processes.standpoint().origin });
  await write(
    engine,
    runId,
    fields,
    `the run ${runId} was started as pid ${pid} and its record does not say so`,
  );
}

async function recordFailure(engine: Engine, files: RunFiles, code: string): Promise<never> {
  const fields = failedFields(`spawn failed: ${code}`, formatIso(engine.now()));
  const message = `the run ${files.runId} could not be started: ${code}`;
  await write(engine, files.runId, fields, message);
  throw new LionError('unavailable', message, { run_id: files.runId, reason_code: 'spawn_failed' });
}

async function write(
  engine: Engine,
  runId: string,
  fields: Map<string, Json>,
  otherwise: string,
): Promise<void> {
  const options = { waitMs: WRITER_LOCK_WAIT_MS, signal: new AbortController().signal };
  const mutation = await mutateRecord(runDirOf(engine.home, runId), runId, options, () => ({
    verdict: null,
    set: fields,
  }));
  if (mutation.kind === 'done') return;
  const why = mutation.kind === 'refused' ? mutation.refusal.message : mutation.kind;
  throw new LionError('unavailable', `${otherwise} (${why})`, { run_id: runId });
}

function unavailable(what: string, error: unknown): LionError {
  const code = errnoOf(error);
  if (code === null) throw error;
  return new LionError('unavailable', `${what}: ${code}`);
}
