import { describe, expect, it } from 'vitest';
import { type NamedTest, namedTests, testsNaming } from './clause-table.ts';

const tests = namedTests();

const CLAUSES = [
  ...Array.from({ length: 14 }, (_, index) => `ADR-0107 Verify by ${index + 1}`),
  ...Array.from({ length: 10 }, (_, index) => `ADR-0106 D${index + 1}`),
];
const CASES = [
  1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 18, 20, 21, 22, 24, 27, 28, 30, 31, 33, 34, 36, 37, 40, 41, 42,
  43, 44, 45, 46, 48, 51, 53, 54, 56, 57, 60, 61, 62, 63, 65, 67, 68, 69, 71, 75, 77, 78, 79, 82, 83, 84, 85,
].map((number) => `case ${number}`);

/** Made from the tests' own titles; `npx vitest run test/clauses -u` writes the documents anew. */
function table(names: readonly string[]): string {
  return names.map((name) => `| ${name} | ${cell(testsNaming(tests, name))} |`).join('\n');
}

function cell(named: readonly NamedTest[]): string {
  const files = [...new Set(named.map(({ file }) => file))];
  return files
    .map((file) => `\`${file}\`: ${named.filter((each) => each.file === file).length}`)
    .join('<br>');
}

describe('the clause tables in docs', () => {
  it.each([...CLAUSES, ...CASES])('%s is named by at least one test', (name) => {
    expect(testsNaming(tests, name)).not.toEqual([]);
  });

  it('docs/clauses.md lists the tests there are', async () => {
    const text = `# Clauses and their tests

Each clause with the files whose tests name it, and how many do. Made from the titles of the tests; a test holds it to them.

| clause | tests |
| --- | --- |
${table(CLAUSES)}

Beside these, \`test/vectors\` replays the answers recorded from the Python engine through the built CLI.
`;
    await expect(text).toMatchFileSnapshot('../../docs/clauses.md');
  });

  it('docs/cases.md lists the tests there are', async () => {
    const text = `# Cases from the field

Experiments made from public bug reports, by their numbers, with the tests that hold the right result.

| case | tests |
| --- | --- |
${table(CASES)}
`;
    await expect(text).toMatchFileSnapshot('../../docs/cases.md');
  });
});
