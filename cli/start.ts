#!/usr/bin/env node
/**
 * What `lion` begins with: it runs the bundle of `main.ts` beside it, by the compiled code that was kept when it was
 * built. Compiling anew takes about as long as a bare start of node; a kept code that is missing, or of another
 * version of V8, costs just that. `npm run bench:list` shows what a call costs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from './bundle.ts';

/** ADR-0106 D8: the environment cannot run the command, nothing was executed. */
const EX_CONFIG = 78;

try {
  load(join(import.meta.dirname, 'lion.js'), keptCode());
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`lion: this installation cannot run the command: ${why}\n`);
  process.exit(EX_CONFIG);
}

function keptCode(): Buffer | undefined {
  try {
    return readFileSync(join(import.meta.dirname, 'lion.code'));
  } catch {
    // It was never kept, or may not be read: the bundle says the same, more slowly.
    return undefined;
  }
}
