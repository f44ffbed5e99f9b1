import { existsSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/**
 * Makes a program of ours (TypeScript, with what it imports of the product) runnable by node from this
 * directory. Modules are found in its `node_modules`: ours, unless one is there already.
 */
export async function bundleInto(directory: string, source: URL): Promise<string> {
  const modules = join(directory, 'node_modules');
  if (!existsSync(modules)) symlinkSync(MODULES, modules);
  const entry = fileURLToPath(source);
  const program = join(directory, `${basename(entry, '.ts')}.mjs`);
  await build({
    entryPoints: [entry],
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
