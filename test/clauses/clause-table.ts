import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** Every test or suite whose title names a clause or a case, as its source has it. */
export function namedTests(): NamedTest[] {
  return testFiles(join(ROOT, 'test')).flatMap((path) => {
    const file = relative(ROOT, path);
    return titlesIn(readFileSync(path, 'utf8')).map((title) => ({ file, title }));
  });
}

/** The tests that name a clause (`ADR-0107 Verify by 3`, `ADR-0106 D7`) or a case (`case 14`), by file. */
export function testsNaming(tests: readonly NamedTest[], clause: string): NamedTest[] {
  const word = clause.replaceAll('.', '\\.');
  const [, adr, letter, number] = /^(ADR-\d+) (D|Verify by )(\d+)$/.exec(clause) ?? [];
  // Several clauses of one ADR may be named together: `ADR-0106 D1, D3, D8`.
  const together =
    adr === undefined
      ? null
      : new RegExp(
          `${adr}[^:)]*?\\b${letter === 'D' ? `D${number}` : `(?:Verify by |, | and )${number}`}\\b`,
        );
  const alone = new RegExp(`\\b${word}\\b`, 'i');
  return tests.filter(({ title }) => alone.test(title) || (together?.test(title) ?? false));
}

function testFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return entry.name === 'data' ? [] : testFiles(path);
      return entry.name.endsWith('.test.ts') ? [path] : [];
    })
    .sort();
}

/** A text that is the first of several arguments: a title, whatever call makes the test. */
function titlesIn(source: string): string[] {
  const calls = source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1).)*)\1\s*,/gs);
  return [...calls].map((match) => (match[2] ?? '').replaceAll(/\\(['"`])/g, '$1'));
}
