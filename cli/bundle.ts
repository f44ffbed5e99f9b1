import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

/**
 * Runs a CommonJS bundle, as `require` would.
 * @param code what `Script.createCachedData` gave for this very file; V8 refuses that of another version of its own.
 * @returns the script, to keep the code of.
 */
export function load(file: string, code?: Buffer): Script {
  const source = readFileSync(file, 'utf8').replace(/^#!.*/, '');
  const options = { filename: file, ...(code === undefined ? {} : { cachedData: code }) };
  const script = new Script(Module.wrap(source), options);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return script;
}
