import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
/** Without line breaks and marks, so that a sentence is found however it is set. */
const prose = (path: string): string => read(path).replace(/[*`]/g, '').replace(/\s+/g, ' ');

/** Where the outcome is publicly defined. */
const DEFINING = ['docs/contract.md', 'README.md'];

describe('ADR-0107 Verify by 10: the reference defines what this producer writes', () => {
  it.each([
    ['indeterminate', /indeterminate: the run ended and its result cannot be established/],
    [
      'indeterminate is no failure, success or cancellation',
      /not a failure, not a success and not a cancellation/,
    ],
    ['process_gone_without_outcome', /process_gone_without_outcome: its process is conclusively gone/],
    ['terminal_source', /terminal_source: who wrote the end/],
    ['liveness_conclusion', /liveness_conclusion: alive, process_gone, unknown/],
    ['all_terminal', /all_terminal: every requested run has a durable end, indeterminate included/],
    ['all_terminal is not success', /It does not say that all succeeded/],
    [
      'finished_at_precision',
      /upper_bound where finished_at is when the end was established and not when the process exited/,
    ],
  ])('docs/contract.md defines %s', (_what, sentence) => {
    expect(prose('docs/contract.md')).toMatch(sentence);
  });

  it('every source an end can have is named', () => {
    for (const source of [
      'cli_terminal_hook',
      'lifecycle_cache',
      'spawn_failure',
      'mcp_kill',
      'mcp_orphan_reaper',
    ])
      expect(read('docs/contract.md')).toContain(`\`${source}\``);
  });

  it.each(DEFINING)('%s says that a duration computed from such an end is an upper bound', (path) => {
    expect(prose(path)).toMatch(
      /duration computed from (it|an upper-bound finished_at) is (itself )?an upper bound/,
    );
  });

  it('every document that defines the outcome states that consequence', () => {
    const documents = [
      'README.md',
      'ARCHITECTURE.md',
      ...['contract', 'how-a-run-is-judged', 'operations'].map((name) => `docs/${name}.md`),
    ];
    const defining = documents.filter((path) =>
      /indeterminate(?:`|\*)*(?: means|: the run ended|\*\*:)/.test(read(path)),
    );
    expect(defining.sort()).toEqual([...DEFINING].sort());
  });
});
