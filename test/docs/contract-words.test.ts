import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../shared/config-schema.ts';
import { type Finding, livenessOf } from '../../shared/liveness/finding.ts';
import { CONFIG_FAULTS } from '../../shared/notify/next-step.ts';
import { codeSpans, codeWords, documentAt, documents, sectionsOf } from '../support/documents.ts';
import {
  degradationCodes,
  exitStatuses,
  literalsOf,
  sourceWords,
  spokenCodes,
} from '../support/source-words.ts';

const contract = documentAt('docs/contract.md');
const operations = documentAt('docs/operations.md');

/** The words in code of the first line in a text that has this in it. */
function wordsAfter(text: string, start: string): string[] {
  const line = text.split('\n').find((each) => each.includes(start));
  if (line === undefined) throw new Error(`no line with ${start}`);
  const after = line.slice(line.indexOf(start) + start.length);
  return codeSpans(after.split(/[.;] [A-Za-z`]/)[0] ?? '').filter((span) => /^[a-z0-9_]+$/.test(span));
}

/** The words in code of the first column of the table whose head begins with this. */
function firstColumn(text: string, head: string): string[] {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.replace(/\s+/g, ' ').startsWith(`| ${head} |`));
  if (from === -1) throw new Error(`no table of ${head}`);
  const rows = lines.slice(from + 2);
  const count = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, count === -1 ? undefined : count).flatMap((row) => codeSpans(row.split('|')[1] ?? ''));
}

const judged = documentAt('docs/how-a-run-is-judged.md');

const kill = sectionsOf(contract, 3).find(({ heading }) => heading.includes('lion job kill'))?.body ?? '';
const show = sectionsOf(contract, 3).find(({ heading }) => heading.includes('lion notify show'))?.body ?? '';
const daemonStatus =
  sectionsOf(contract, 3).find(({ heading }) => heading.includes('lion daemon status'))?.body ?? '';

/** Each set of words that a program may meet: what the documents name, and what the code has. */
const SETS: readonly (readonly [string, () => string[], () => string[]])[] = [
  [
    'error kinds',
    () => wordsAfter(contract, '`error.kind` is closed:'),
    () => literalsOf('shared/contract/errors.ts', 'ErrorKind'),
  ],
  [
    'outcomes',
    () => wordsAfter(contract, '| `outcome` '),
    () => literalsOf('shared/run/derive.ts', 'Outcome'),
  ],
  [
    'conclusions on liveness',
    () => wordsAfter(contract, '- **`liveness_conclusion`**'),
    () => literalsOf('shared/liveness/finding.ts', 'LivenessConclusion'),
  ],
  [
    'refusals',
    () => wordsAfter(contract, '- `refusal {code, message}`'),
    () => [...literalsOf('shared/run/status.ts', 'StatusRefusal')],
  ],
  [
    'delivery states',
    () => wordsAfter(contract, '- `notify_delivery_state`:'),
    () => literalsOf('shared/notify/delivery-state.ts', 'DeliveryState'),
  ],
  [
    'retry states',
    () => wordsAfter(contract, ' `notify_retry_state`:'),
    () => literalsOf('shared/notify/delivery-state.ts', 'RetryState'),
  ],
  [
    'why no index was used',
    () => wordsAfter(contract, '- `index {used, why}`'),
    () => [
      ...literalsOf('shared/index/read-index.ts', 'WhyUnused'),
      ...literalsOf('shared/index/fault.ts', 'IndexFaultCode'),
    ],
  ],
  [
    'reasons of a kill',
    () => wordsAfter(kill, '- `reason_code`:'),
    () => literalsOf('shared/kill/reason.ts', 'KillReason'),
  ],
  [
    'reasons to keep a run',
    () => wordsAfter(contract, '- `kept`: how many by reason:'),
    () => literalsOf('shared/run/prune/decide.ts', 'KeepReason'),
  ],
  [
    'reasons to keep a run, for people',
    () => firstColumn(operations, 'kept as'),
    () => literalsOf('shared/run/prune/decide.ts', 'KeepReason'),
  ],
  [
    'states of a supervisor',
    () => wordsAfter(daemonStatus, '`state`:'),
    () => ['running', 'stalled', 'starting', 'stopped'],
  ],
  ['what may be degraded', () => firstColumn(operations, 'degraded'), degradationCodes],
  [
    'failure classes',
    () => wordsAfter(operations, '`failure_class`:'),
    () => literalsOf('shared/notify/failure-class.ts', 'FailureClass'),
  ],
  ['keys of liond.yaml', () => firstColumn(operations, 'key'), configKeys],
];

/** `record_` and a state of a record. */
const COMPOSED = ['record_unreadable', 'record_wrong_shape'];

/** Said by one part to another, and shown to nobody. */
const INTERNAL = ['finding_is_not_conclusive', 'not_due'];

describe('what the documents name and what the code has', () => {
  it.each(SETS)('%s', (_, documented, had) => {
    expect([...new Set(documented())].sort()).toEqual([...new Set(had())].sort());
  });

  it('the words of the next step of a notice', () => {
    const steps = literalsOf('shared/notify/next-words.ts', 'Next');
    expect([...codeWords(show)]).toEqual(expect.arrayContaining(steps));
  });

  it('every code that the engine gives is in one of them', () => {
    const named = new Set([...documents().values()].flatMap((text) => [...codeWords(text)]));
    const codes = spokenCodes();
    expect(codes.length).toBeGreaterThan(30);
    expect(codes.filter((code) => !named.has(code) && !INTERNAL.includes(code))).toEqual([]);
  });

  it('no word with an underscore is in one of them that the code does not have', () => {
    const known = new Set([...sourceWords(), ...COMPOSED]);
    const words = [...documents()].flatMap(([path, text]) =>
      [...codeWords(text)]
        .filter((word) => /^[a-z]+(_[a-z0-9]+)+$/.test(word) && !known.has(word))
        .map((word) => `${path}: ${word}`),
    );
    expect(words).toEqual([]);
  });

  it.each([
    ['`lion`', contract, 'status', ['cli']],
    ['`liond`', operations, '`liond` exits with', ['daemon/main.ts']],
  ] as const)('every exit status of %s', (_, text, head, sources) => {
    const lines = text.split('\n').map((line) => line.replace(/\s+/g, ' '));
    const from = lines.findIndex((line) => line.startsWith(`| ${head} |`) && !line.includes('field'));
    const documented = lines.slice(from + 2).map((line) => line.split('|')[1]?.trim() ?? '');
    const numbers = new Set(documented.slice(0, documented.indexOf('')).flatMap((cell) => cell.split(', ')));
    expect([...numbers]).toEqual(expect.arrayContaining(['0', '1', ...exitStatuses(sources)]));
  });

  it('why a notice is parked', () => {
    const reasons = [...literalsOf('shared/notify/next-step.ts', 'ParkReason'), ...CONFIG_FAULTS];
    expect([...codeWords(operations)]).toEqual(expect.arrayContaining(reasons));
  });

  it('every finding about a process, with what it concludes', () => {
    const rows = judged
      .split('\n')
      .filter((line) => /\| (process_gone|alive|unknown) +\| (true|false) +\|$/.test(line));
    const documented = rows.map((row) => {
      const [identity = '', conclusion, alive] = row
        .split('|')
        .slice(-4, -1)
        .map((cell) => cell.trim().replaceAll('`', ''));
      return [identity, conclusion, alive].join(' ');
    });
    const had = literalsOf('shared/liveness/finding.ts', 'Finding')
      // Of a run whose record cannot be read; no liveness is shown of it.
      .filter((finding) => finding !== 'no_record')
      .map((finding) => livenessOf(finding as Finding))
      .map(({ pidIdentity, conclusion, alive }) =>
        [String(pidIdentity), conclusion, String(alive)].join(' '),
      );
    expect([...new Set(documented)].sort()).toEqual([...new Set(had)].sort());
  });

  it('the words of a lifecycle state', () => {
    const states = literalsOf('shared/contract/lifecycle.ts', 'LifecycleState');
    expect([...codeWords(contract)]).toEqual(expect.arrayContaining(states));
  });
});

/** As the parser itself names them where it meets a key it does not know. */
function configKeys(): string[] {
  const known = (text: string): string[] =>
    /it takes (.*)$/.exec(String(parseConfig(text)))?.[1]?.split(', ') ?? [];
  const groups = known('nosuch: 1').filter((key) =>
    known(`${key}: {nosuch: 1}`).some((each) => each.includes('.')),
  );
  const below = groups.flatMap((group) => known(`${group}: {nosuch: 1}`));
  return [...known('nosuch: 1').filter((key) => !groups.includes(key)), ...below];
}
