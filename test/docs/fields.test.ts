import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeSpans, documentAt, sectionsOf } from '../support/documents.ts';
import { layUsage } from '../support/lay-usage.ts';
import { askData } from '../support/machine.ts';
import { layEnded, layLive, layOwed, runIdOf } from '../support/runs-of-all-sorts.ts';
import { ended, runOf } from '../support/submitted.ts';
import { startSupervisor } from '../support/supervisor.ts';
import { makeWorld, type World } from '../support/world.ts';

const [ENDED, OWED, LIVE] = [runIdOf(1), runIdOf(2), runIdOf(3)] as [string, string, string];

/** One call of each verb whose answer has everything in it that it can have. */
const CALLS: readonly (readonly [string, readonly string[]])[] = [
  ['handshake', ['handshake']],
  ['job status', ['job', 'status', ENDED, '--usage']],
  ['job list', ['job', 'list']],
  ['job wait', ['job', 'wait', ENDED, 'no-such-run', '--max-wait', '0']],
  ['job output', ['job', 'output', ENDED]],
  ['job submit', ['job', 'submit', '--', 'true']],
  ['job kill', ['job', 'kill', LIVE, '--force', '--grace', '1']],
  ['notify list', ['notify', 'list']],
  ['notify show', ['notify', 'show', OWED]],
  ['notify test', ['notify', 'test', OWED]],
  ['notify retry', ['notify', 'retry', OWED]],
  ['daemon status', ['daemon', 'status']],
  ['job prune', ['job', 'prune', '--keep', '1']],
];

/** Words in the first paragraph that are values or options of the verb and no fields. */
const NO_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'job list': ['unreadable', 'wrong_shape'],
};

let world: World;

beforeAll(async () => {
  world = await makeWorld();
  layEnded(world, ENDED, 'completed');
  layOwed(world, OWED, JSON.stringify(['/bin/true', '{run_id}']));
  await layLive(world, LIVE);
  layUsage(world, [{ run_id: ENDED }]);
});

afterAll(async () => {
  await world.dispose();
});

describe('the fields of each answer', () => {
  it.each(CALLS)(
    'lion %s: what the contract names is there, and what is there is named',
    async (verb, args) => {
      if (verb === 'daemon status') {
        await startSupervisor(world);
        writeFileSync(join(world.lionagiHome, 'mcp', 'liond.yaml'), 'no_such_key: 1\n');
      }
      const data = await askData(world, args);
      if (verb === 'job submit') await ended(runOf(world, data));
      const { body } = sectionsOf(documentAt('docs/contract.md'), 3).find(({ heading }) =>
        heading.startsWith(`\`lion ${verb}`),
      ) ?? { body: '' };
      const [paragraph = ''] = body.trim().split('\n\n');
      const there = keysIn(data);
      const promised = codeSpans(paragraph)
        .filter((span) => /[{},]/.test(span))
        .flatMap((span) => span.match(/(?<![-\w])[a-z][a-z_]*(?![-\w])/g) ?? [])
        .filter((word) => !(NO_FIELDS[verb] ?? []).includes(word));
      expect(promised.filter((word) => !there.has(word))).toEqual([]);
      const named = new Set(
        codeSpans(body + (SAME_AS[verb] ?? '') + WORDS).flatMap((span) => span.match(/[a-z][a-z_]*/g) ?? []),
      );
      expect([...there].filter((key) => !named.has(key))).toEqual([]);
    },
  );
});

/** `notify show` says that its members are those of a row of the list. */
const SAME_AS: Readonly<Record<string, string>> = {
  'notify show':
    sectionsOf(documentAt('docs/contract.md'), 3).find(({ heading }) => heading.includes('lion notify list'))
      ?.body ?? '',
};

/** What holds for every answer about a run. */
const WORDS =
  sectionsOf(documentAt('docs/contract.md'), 2).find(({ heading }) => heading.startsWith('Words'))?.body ??
  '';

/** What the record has is shown as it is. */
const OPEN = ['notify_delivery'];

/** Names of members, at any depth but in what a run or a system named itself. */
function keysIn(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  if (Array.isArray(value)) return new Set(value.flatMap((each) => [...keysIn(each)]));
  return new Set(
    Object.entries(value).flatMap(([key, below]) => [key, ...(OPEN.includes(key) ? [] : keysIn(below))]),
  );
}
