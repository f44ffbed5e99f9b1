#!/usr/bin/env node
/** The only module of `liond` that listens to the process, writes to its streams or sets its exit status. */
import { mkdirSync, readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { HeldInstance } from './instance.ts';
import type { OpenJournal } from './journal.ts';
import type { ServiceManager } from './sd-notify.ts';
import type { Supervisor } from './supervisor.ts';

/** Stopped without waiting for what was under way. */
const EX_NOT_WAITED = 1;
/** A fault of this program. */
const EX_SOFTWARE = 70;
/** Another supervisor looks after the store. */
const EX_TEMPFAIL = 75;
/** An installation or configuration that cannot work: not to be started again until it is mended. */
const EX_CONFIG = 78;
const USAGE =
  'liond looks after the runs in $LIONAGI_HOME/mcp/jobs until it is stopped; it takes --version or --help.';
/** Longer than a notice may take, so that a stop never cuts one off. */
const STOP_BOUND_MS = 40_000;

type Parts = typeof import('../shared/engine.ts') &
  typeof import('../shared/environment-fault.ts') &
  typeof import('../shared/store/home.ts') &
  typeof import('../shared/time/iso.ts') &
  typeof import('../shared/version.ts') &
  typeof import('./instance.ts') &
  typeof import('./journal.ts') &
  typeof import('./sd-notify.ts') &
  typeof import('../shared/store/place.ts') &
  typeof import('./supervisor.ts') &
  typeof import('./upkeep.ts');

// It lives for months and mostly waits: a small heap is worth more than a fast first scan (116 MB and not 140 with
// 100,000 runs: test/drills/idle.test.ts prints it).
setFlagsFromString('--optimize-for-size');

const hardStop = new AbortController();
let journal: OpenJournal | null = null;
// Whoever looked on has gone: the supervisor has not.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
process.on('uncaughtException', crash);

void main();

async function main(): Promise<void> {
  const parts = await load();
  if (typeof parts === 'string') fail(EX_CONFIG, `this installation cannot run: ${parts}`);
  const [asked, ...more] = process.argv.slice(2);
  if (asked === '--version' || asked === '--help') {
    say(asked === '--version' ? parts.IMPLEMENTATION_VERSION : USAGE);
    process.exit(0);
  }
  if (asked !== undefined || more.length > 0) fail(2, `unknown argument ${asked}. ${USAGE}`);
  await supervise(parts);
}

async function load(): Promise<Parts | string> {
  try {
    return {
      ...(await import('../shared/engine.ts')),
      ...(await import('../shared/environment-fault.ts')),
      ...(await import('../shared/store/home.ts')),
      ...(await import('../shared/time/iso.ts')),
      ...(await import('../shared/version.ts')),
      ...(await import('./instance.ts')),
      ...(await import('./journal.ts')),
      ...(await import('./sd-notify.ts')),
      ...(await import('../shared/store/place.ts')),
      ...(await import('./supervisor.ts')),
      ...(await import('./upkeep.ts')),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function supervise(parts: Parts): Promise<void> {
  const { stateDir } = parts.homeOf(process.env, process.cwd());
  const told = parts.openJournal(stateDir, { say, complain });
  journal = told;
  const env = parts.withoutManager(process.env);
  const { engine, configFault } = await parts.openEngine(env, process.cwd(), hardStop.signal);
  if (configFault !== null) fail(EX_CONFIG, configFault);
  const { jobsDir, root } = engine.home;
  await prepare(parts, () => {
    for (const directory of [jobsDir, stateDir]) mkdirSync(directory, { recursive: true, mode: 0o700 });
    readdirSync(jobsDir);
  });
  const misplaced = parts.placeFault(engine.home, engine.config);
  if (misplaced !== null) fail(EX_CONFIG, misplaced);
  const version = parts.IMPLEMENTATION_VERSION;
  const note = { pid: process.pid, version, startedAt: parts.formatIso(Date.now()) };
  const instance = await prepare(parts, () => parts.holdInstance(stateDir, note, hardStop.signal));
  if ('heldBy' in instance) {
    const { pid, version, startedAt } = instance.heldBy;
    const who = `pid ${pid ?? 'unknown'}, version ${version ?? 'unknown'}, since ${startedAt ?? 'unknown'}`;
    fail(EX_TEMPFAIL, `another liond looks after ${root} already (${who})`);
  }
  const manager = await parts.openServiceManager(process.env, process.pid);
  told({ event: 'started', jobs_dir: jobsDir, version, pid: process.pid });
  const upkeep = parts.startUpkeep(instance.held, told, () =>
    stop('another liond holds instance.lock', EX_TEMPFAIL),
  );
  const supervisor = parts.startSupervisor(engine, told, () => upkeep.degraded());
  const stop = stopper(supervisor, instance.held, told, manager);
  tellManager(manager, `looking after ${jobsDir}`);
}

/** What has to be there before anything is looked after, or in words what is in the way. */
async function prepare<T>(parts: Parts, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (parts.isEnvironmentFault(error))
      fail(EX_CONFIG, `this installation cannot run: ${error.message}; install it with the Node in use`);
    const message = error instanceof Error ? error.message : String(error);
    const [path, code] = [fieldOf(error, 'path'), fieldOf(error, 'code')];
    return fail(EX_CONFIG, path === null ? `${message} (${code})` : `cannot use ${path}: ${code}`);
  }
}

function fieldOf(error: unknown, name: string): string | null {
  return error instanceof Error && name in error ? String(Reflect.get(error, name)) : null;
}

type Stop = (reason: string, exitCode: number) => Promise<void>;

/** Stops intake and lets what is under way finish; a second signal does not wait for that. */
function stopper(
  supervisor: Supervisor,
  instance: HeldInstance,
  told: OpenJournal,
  manager: ServiceManager,
): Stop {
  let stopping = false;
  const stop: Stop = async (reason, exitCode) => {
    if (stopping) return;
    stopping = true;
    told({ event: 'stopping', reason });
    manager.stopping();
    setTimeout(() => endNow(`not stopped after ${STOP_BOUND_MS / 1000} s`), STOP_BOUND_MS).unref();
    await supervisor.stop();
    instance.release();
    told({ event: 'stopped' });
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => (stopping ? endNow(`${signal} while stopping`) : stop(signal, 0)));
  return stop;
}

function tellManager(manager: ServiceManager, status: string): void {
  manager.ready();
  manager.status(status);
  if (manager.watchdogIntervalMs !== null)
    setInterval(() => manager.watchdog(), manager.watchdogIntervalMs).unref();
}

function endNow(why: string): never {
  fail(EX_NOT_WAITED, `${why}: what was under way is cut off`);
}

/** A rejection that nobody awaited comes here too. */
function crash(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  fail(EX_SOFTWARE, message, error instanceof Error ? error.stack : undefined);
}

/** The last word goes to the log too, once there is one; what was started by this process goes with it. */
function fail(exitCode: number, message: string, stack?: string): never {
  if (journal === null) complain(stack ?? message);
  else journal({ event: 'fatal', exit_code: exitCode, message, ...(stack === undefined ? {} : { stack }) });
  hardStop.abort();
  process.exit(exitCode);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function complain(line: string): void {
  process.stderr.write(`liond: ${line}\n`);
}
