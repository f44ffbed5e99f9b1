import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Makes a program of a file of `test/support` in this directory, our source bundled into it; returns its path. */
export async function bundleProgram(file: string, directory: string): Promise<string> {
  const program = join(directory, 'program.mjs');
  await symlink(MODULES, join(directory, 'node_modules'));
  const source = new URL(`./${file}`, import.meta.url);
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    define: { 'import.meta.url': JSON.stringify(source.href) },
    logLevel: 'error',
  });
  return program;
}
