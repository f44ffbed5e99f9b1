#!/usr/bin/env node
/** The only module of `liond` that listens to the process, writes to its streams or sets its exit status. */
import { mkdirSync, readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { Event } from './journal.ts';
import type { Supervisor } from './supervisor.ts';

/** An installation or configuration that cannot work: not to be started again until it is mended. */
const EX_CONFIG = 78;
const USAGE =
  'liond looks after the runs in $LIONAGI_HOME/mcp/jobs until it is stopped; it takes --version or --help.';
/** Longer than a notice may take, so that a stop never cuts one off. */
const STOP_BOUND_MS = 40_000;

type Parts = typeof import('../shared/engine.ts') &
  typeof import('../shared/version.ts') &
  typeof import('./journal.ts') &
  typeof import('./supervisor.ts');

// It lives for months and mostly waits: a small heap is worth more than a fast first scan (116 MB and not 140 with
// 100,000 runs; bench/idle).
setFlagsFromString('--optimize-for-size');

const hardStop = new AbortController();
// Whoever looked on has gone: the supervisor has not.
process.stdout.on('error', () => undefined);

const parts = await load();
if (typeof parts === 'string') fail(EX_CONFIG, `this installation cannot run: ${parts}`);
const [asked, ...more] = process.argv.slice(2);
if (asked === '--version' || asked === '--help') {
  say(asked === '--version' ? parts.IMPLEMENTATION_VERSION : USAGE);
  process.exit(0);
}
if (asked !== undefined || more.length > 0) fail(2, `unknown argument ${asked}. ${USAGE}`);
await supervise(parts);

async function load(): Promise<Parts | string> {
  try {
    return {
      ...(await import('../shared/engine.ts')),
      ...(await import('../shared/version.ts')),
      ...(await import('./journal.ts')),
      ...(await import('./supervisor.ts')),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function supervise({
  openEngine,
  openJournal,
  startSupervisor,
  IMPLEMENTATION_VERSION,
}: Parts): Promise<void> {
  const { engine, configFault } = await openEngine(process.env, process.cwd(), hardStop.signal);
  if (configFault !== null) fail(EX_CONFIG, configFault);
  const journal = prepare(() => {
    mkdirSync(engine.home.jobsDir, { recursive: true, mode: 0o700 });
    readdirSync(engine.home.jobsDir);
    return openJournal(engine.home, say);
  });
  journal({
    event: 'started',
    jobs_dir: engine.home.jobsDir,
    version: IMPLEMENTATION_VERSION,
    pid: process.pid,
  });
  stopOnSignal(startSupervisor(engine, journal), journal);
}

/** What has to be there before anything is looked after, or in words what is in the way. */
function prepare<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const path = error instanceof Error && 'path' in error ? ` ${String(error.path)}` : '';
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return fail(EX_CONFIG, `cannot use${path}: ${code}`);
  }
}

/** The first signal stops intake and lets what is under way finish; the second does not wait. */
function stopOnSignal(supervisor: Supervisor, journal: (event: Event) => void): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, async () => {
      if (stopping) endNow();
      stopping = true;
      journal({ event: 'stopping', reason: signal });
      setTimeout(endNow, STOP_BOUND_MS).unref();
      await supervisor.stop();
      journal({ event: 'stopped' });
      process.exit(0);
    });
  }
}

function endNow(): never {
  hardStop.abort();
  process.exit(1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(exitCode: number, message: string): never {
  process.stderr.write(`liond: ${message}\n`);
  process.exit(exitCode);
}
