#!/usr/bin/env node
/**
 * What `lion` begins with: it runs the bundle of `main.ts` beside it, by the compiled code that was kept when it was
 * built. Compiling anew takes nearly as long as a bare start of node (docs/decisions/0010).
 */
import { readBundle, run } from './bundle.ts';

/** ADR-0106 D8: the environment cannot run the command, nothing was executed. */
const EX_CONFIG = 78;

try {
  run(readBundle(import.meta.dirname));
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`lion: this installation cannot run the command: ${why}\n`);
  process.exit(EX_CONFIG);
}
