import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exitedComparisons, exitedComparisonsInPython } from './exited-comparisons.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** This check's own examples. */
const OWN = ['test/clauses/verify-by-11.test.ts', 'test/clauses/exited-comparisons.ts'];

/** Comparisons that assert which word is shown and decide nothing by it. */
const ASSERTING = [
  "answer.possibly_orphaned ? answer.status === 'exited' : answer.status === 'running'", // hostile/live-runs
];

function sourcesUnder(directory: string, extension: string): string[] {
  return readdirSync(join(ROOT, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length))
    .filter((path) => !OWN.includes(path) && !path.includes('node_modules'));
}

function found(paths: readonly string[], look: (path: string, source: string) => string[]): string[] {
  return paths.flatMap((path) => {
    const source = ASSERTING.reduce(
      (text, asserting) => text.replace(asserting, 'true'),
      readFileSync(join(ROOT, path), 'utf8'),
    );
    return look(path, source).map((place) => `${path}:${place}`);
  });
}

describe("ADR-0107 Verify by 11: nothing decides by comparing a status with 'exited'", () => {
  it('no test branches on it to decide terminality', () => {
    const tests = sourcesUnder('test', '.ts');
    expect(tests.length).toBeGreaterThan(50);
    expect(found(tests, exitedComparisons)).toEqual([]);
  });

  it('no Python program of the tests does', () => {
    const programs = sourcesUnder('test', '.py');
    expect(programs.length).toBeGreaterThan(1);
    expect(found(programs, (_, source) => exitedComparisonsInPython(source))).toEqual([]);
  });

  it.each(['shared', 'cli', 'daemon'])('nothing under %s compares a status with it', (directory) => {
    const sources = sourcesUnder(directory, '.ts');
    expect(sources.length).toBeGreaterThan(3);
    expect(found(sources, exitedComparisons)).toEqual([]);
  });

  it.each([
    "if (record.get('status') === 'exited') end();",
    "const over = 'exited' !== status;",
    'if (status == "exited") end();',
    "switch (row.status) { case 'exited': end(); }",
    "const over = ['killed', 'exited'].includes(status);",
    "const over = new Set(['exited']).has(status);",
    "const over = ENDED.has('exited');",
    'const over = status === `exited`;',
    "const over = status.startsWith('exited');",
    "const over = Object.is(status, 'exited');",
  ])('it would be found: %s', (source) => {
    expect(exitedComparisons('planted.ts', source)).toHaveLength(1);
  });

  it.each([
    "expect(data.status).toBe('exited');",
    "expect(data).toEqual({ status: 'exited', terminal: true });",
    "if (result.kind === 'exited') collect(result);",
    "switch (result.kind) { case 'exited': collect(result); }",
    "const end = new Map([['status', 'exited']]);",
    "type Ended = { readonly kind: 'exited' };",
  ])('it is not taken for one: %s', (source) => {
    expect(exitedComparisons('planted.ts', source)).toEqual([]);
  });

  it.each([
    'if record["status"] == "exited":',
    "over = status in ('killed', 'exited')",
    "'exited' != status",
  ])('it would be found in Python: %s', (source) => {
    expect(exitedComparisonsInPython(source)).toHaveLength(1);
  });

  it('an assignment in Python is not taken for one', () => {
    expect(exitedComparisonsInPython('record.update({"status": "exited"})\nstatus = "exited"')).toEqual([]);
  });
});
