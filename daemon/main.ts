#!/usr/bin/env node
/** The only module of `liond` that listens to the process, writes to its streams or sets its exit status. */
import { openEngine } from '../shared/engine.ts';
import { IMPLEMENTATION_VERSION } from '../shared/version.ts';
import { openJournal } from './journal.ts';
import { startSupervisor } from './supervisor.ts';

/** A configuration that cannot work: not to be started again until it is mended. */
const EX_CONFIG = 78;
/** Longer than a notice may take, so that a stop never cuts one off. */
const STOP_BOUND_MS = 40_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
// Whoever looked on has gone: the supervisor has not.
process.stdout.on('error', () => undefined);

if (process.argv.length > 2) {
  const asked = process.argv[2];
  if (asked === '--version') say(IMPLEMENTATION_VERSION);
  else
    say(
      'liond looks after the runs in $LIONAGI_HOME/mcp/jobs until it is stopped; it takes no arguments but --version.',
    );
  process.exit(asked === '--version' || asked === '--help' ? 0 : 2);
}

const hardStop = new AbortController();
const { engine, configFault } = await openEngine(process.env, process.cwd(), hardStop.signal);
if (configFault !== null) {
  process.stderr.write(`liond: ${configFault}\n`);
  process.exit(EX_CONFIG);
}

const journal = openJournal(engine.home, say);
journal({
  event: 'started',
  jobs_dir: engine.home.jobsDir,
  version: IMPLEMENTATION_VERSION,
  pid: process.pid,
});
const supervisor = startSupervisor(engine, journal);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));
let stopping = false;

async function stop(signal: string): Promise<void> {
  if (stopping) {
    hardStop.abort();
    process.exit(1);
  }
  stopping = true;
  journal({ event: 'stopping', reason: signal });
  const bound = setTimeout(() => {
    hardStop.abort();
    process.exit(1);
  }, STOP_BOUND_MS);
  await supervisor.stop();
  clearTimeout(bound);
  journal({ event: 'stopped' });
  process.exit(0);
}
