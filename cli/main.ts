#!/usr/bin/env node
/**
 * The only module of `lion` that listens to the process, writes to its streams or sets its exit status.
 * Everything else is loaded from here as it is needed, so that an installation with a part missing exits 78
 * and not with a stack trace, and a verb pays for nothing it does not use.
 */
import { fileURLToPath } from 'node:url';
import type { Output } from './answer.ts';
import { takeMachineFlag } from './machine-flag.ts';
import { screenOf } from './render/screen.ts';
import type { Call, Chunk } from './verb.ts';

const { machine, args } = takeMachineFlag(process.argv.slice(2));
const lifetime = new AbortController();
let signalled: 'SIGINT' | 'SIGTERM' | null = null;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The first one lets what was learned be said; the second does not wait for that.
    if (signalled !== null) process.exit(exitStatusOf(signal));
    signalled = signal;
    lifetime.abort();
  });
}

const call: Call = {
  machine,
  signal: lifetime.signal,
  program: { node: process.execPath, main: fileURLToPath(import.meta.url) },
  env: process.env,
  async open() {
    const { openEngine } = await import('../shared/engine.ts');
    const { engine, configFault } = await openEngine(process.env, process.cwd(), lifetime.signal);
    if (configFault !== null) await write(process.stderr, `lion: ${configFault}; going by the defaults\n`);
    return engine;
  },
};

const output = await run();
await write(process.stderr, output.stderr);
await write(process.stdout, output.stdout);
const exitCode = output.follow === undefined ? output.exitCode : await show(output.follow());
process.exit(signalled !== null && !machine ? exitStatusOf(signalled) : exitCode);

async function show(chunks: AsyncGenerator<Chunk, number>): Promise<number> {
  for (;;) {
    const next = await chunks.next();
    if (next.done) return next.value;
    await write(next.value.to === 'stdout' ? process.stdout : process.stderr, next.value.text);
  }
}

async function run(): Promise<Output> {
  let parts: typeof import('./program.ts') & typeof import('./answer.ts');
  try {
    parts = { ...(await import('./program.ts')), ...(await import('./answer.ts')) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      stdout: '',
      stderr: `lion: this installation cannot run the command: ${message}\n`,
      exitCode: 78,
    };
  }
  const result = await parts
    .dispatch(args, call)
    .catch((error: unknown) => ({ kind: 'error' as const, error }));
  return machine
    ? parts.machineOutput(result)
    : parts.humanOutput(result, screenOf(process.stdout, process.env));
}

/** Returns when the stream has taken it all: an exit before that cuts a slow pipe at 64 KB. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (text === '') return Promise.resolve();
  return new Promise((resolve) => {
    // A reader that closed the pipe (`| head`) has had enough; that is not an error of ours.
    stream.on('error', () => resolve());
    stream.write(text, () => resolve());
  });
}

function exitStatusOf(signal: 'SIGINT' | 'SIGTERM'): number {
  return signal === 'SIGINT' ? 130 : 143;
}
