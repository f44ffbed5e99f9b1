import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { inWorld } from '../support/in-world.ts';
import { pack } from '../support/packed.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Besides docs, which has what the directory has. */
const FILES = [
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'dist/THIRD-PARTY.txt',
  'dist/cli/lion.code',
  'dist/cli/lion.js',
  'dist/cli/main.js',
  'dist/daemon/main.js',
  'dist/package.json',
  'launchd/io.liond.plist',
  'package.json',
  'systemd/liond.service',
];

describe('the tarball', () => {
  it('is built from a clean clone, and has what is needed and nothing else', async () => {
    await inWorld(async (world) => {
      const packed = await pack(world);
      const paths = packed.files.map(({ path }) => path);
      const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.md'))
        .map((file) => `docs/${file}`);
      expect([...paths].sort()).toEqual([...FILES, ...docs].sort());
      const programs = packed.files.filter(({ path }) => Object.values(manifest.bin).includes(path));
      expect(programs.map(({ mode }) => mode & 0o111)).toEqual([0o111, 0o111]);
      expect(packed.size).toBeLessThan(600_000);
      expect(packed.unpackedSize).toBeLessThan(1_900_000);
      execFileSync('tar', ['xzf', packed.file, '-C', world.cwd]);
      for (const path of paths) {
        const text = readFileSync(join(world.cwd, 'package', path), 'utf8');
        expect(text.includes(world.root), path).toBe(false);
      }
    });
  });

  it('asks for what its programs load and for nothing else', () => {
    const programs = ['dist/cli/main.js', 'dist/cli/lion.js', 'dist/daemon/main.js'].map((path) =>
      readFileSync(join(ROOT, path), 'utf8'),
    );
    const loaded = programs.flatMap((text) =>
      [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name ?? ''),
    );
    const packages = new Set(
      loaded.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)),
    );
    const asked = { ...manifest.dependencies, ...manifest.optionalDependencies };
    expect([...packages].sort()).toEqual(Object.keys(asked).sort());
    // Where it cannot be compiled, the installation goes on without: lists scan.
    expect(Object.keys(manifest.optionalDependencies)).toEqual(['better-sqlite3']);
  });

  it('has the licence of every package of which it has a part', () => {
    const text = readFileSync(join(ROOT, 'dist', 'THIRD-PARTY.txt'), 'utf8');
    const named = [...text.matchAll(/^==== (\S+) \S+ \((.+)\)$/gm)].map(([, name, licence]) => [
      name,
      licence,
    ]);
    const bundled = /const bundled =\s+'([^']+)'/.exec(
      readFileSync(join(ROOT, '.dependency-cruiser.cjs'), 'utf8'),
    );
    expect(named.map(([name]) => name)).toEqual(expect.arrayContaining(bundled?.[1]?.split('|') ?? ['none']));
    expect(new Set(named.map(([, licence]) => licence))).toEqual(new Set(['MIT', 'ISC']));
  });
});
