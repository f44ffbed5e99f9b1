import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** The bundle of `main.ts`, with the code that V8 made of it once. */
export interface Bundle {
  readonly file: string;
  readonly codeFile: string;
  readonly source: string;
}

export function readBundle(dist: string): Bundle {
  const file = join(dist, 'lion.js');
  return { file, codeFile: join(dist, 'lion.code'), source: readFileSync(file, 'utf8') };
}

/** Runs it, as `require` would; by the kept code, where that is whole and of this very bundle. */
export function run(bundle: Bundle): Script {
  const { file, source } = bundle;
  const cachedData = keptCode(bundle);
  // A name and no path: it is kept in the code, which goes where it is installed.
  const script = new Script(Module.wrap(source), {
    filename: 'lion.js',
    ...(cachedData ? { cachedData } : {}),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return script;
}

/** To be called when all that is to be kept has run. */
export function keepCode({ codeFile, source }: Bundle, script: Script): void {
  const code = script.createCachedData();
  writeFileSync(codeFile, Buffer.concat([sumOf(code, source), code]));
}

/**
 * V8 refuses what another version of it has made, and believes everything else: code of another bundle of the same
 * length, or with a bit changed, would crash or, worse, answer. So the file begins with a checksum.
 */
function keptCode({ codeFile, source }: Bundle): Buffer | undefined {
  try {
    const kept = readFileSync(codeFile);
    const [sum, code] = [kept.subarray(0, SUM_BYTES), kept.subarray(SUM_BYTES)];
    return sum.equals(sumOf(code, source)) ? code : undefined;
  } catch {
    // It was never kept, or may not be read: the bundle says the same, more slowly.
    return undefined;
  }
}

const SUM_BYTES = 20;

function sumOf(code: Buffer, source: string): Buffer {
  return createHash('sha1').update(code).update(source).digest();
}
