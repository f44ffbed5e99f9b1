import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { MODULES } from './bundle.ts';
import type { World } from './world.ts';

export interface Version {
  readonly version: string;
  readonly indexVersion: number;
}

/** The supervisor as another version of it: of another name, and keeping an index of another number. */
export async function buildLiond(world: World, { version, indexVersion }: Version): Promise<string> {
  const dist = join(world.root, `liond-${version}`);
  mkdirSync(dist);
  symlinkSync(MODULES, join(dist, 'node_modules'));
  writeFileSync(join(dist, 'package.json'), '{"type":"commonjs"}');
  const main = join(dist, 'main.js');
  const contents = `export const IMPLEMENTATION_VERSION = '${version}'; export const INDEX_VERSION = ${indexVersion};`;
  const versionOf: Plugin = {
    name: 'version',
    setup: (on) => void on.onLoad({ filter: /\/shared\/version\.ts$/ }, () => ({ contents })),
  };
  await build({
    entryPoints: [fileURLToPath(new URL('../../daemon/main.ts', import.meta.url))],
    outfile: main,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    mainFields: ['module', 'main'],
    supported: { 'dynamic-import': false },
    external: ['koffi', 'pino', 'better-sqlite3'],
    define: { 'import.meta.filename': '__filename', 'import.meta.url': 'mainUrl' },
    banner: { js: 'const mainUrl=require("node:url").pathToFileURL(__filename).href;' },
    plugins: [versionOf],
    logLevel: 'error',
  });
  chmodSync(main, 0o755);
  return main;
}
