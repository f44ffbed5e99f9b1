/**
 * A step of the build: runs `lion job list` on a store with nothing in it and keeps the code that V8 made of the
 * bundle, with the functions that nearly every call needs, for `start.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepCode, readBundle, run } from './bundle.ts';

const home = mkdtempSync(join(tmpdir(), 'lion-build-'));
process.env.LIONAGI_HOME = home;
process.argv.splice(2, process.argv.length, '--machine', 'job', 'list');
const bundle = readBundle(import.meta.dirname);
const script = run(bundle);
process.on('exit', () => {
  rmSync(home, { recursive: true });
  keepCode(bundle, script);
});
