import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';

const roots: string[] = [];

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** A directory of its own for one test, by its real path; gone after it. */
export function tempRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'liond-settings-')));
  roots.push(root);
  return root;
}

/** Writes `<dir>/.lionagi/settings.yaml` and says where it is. */
export function writeSettings(dir: string, text: string | Uint8Array): string {
  const path = join(dir, '.lionagi', 'settings.yaml');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
