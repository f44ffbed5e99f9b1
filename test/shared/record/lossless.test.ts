import { readFileSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JsonSyntaxError, parseJson, parseObjectText } from '../../../shared/json/parse.ts';
import { spliceMembers } from '../../../shared/json/splice.ts';
import { type Json, JsonNumber } from '../../../shared/json/value.ts';
import { mutateRecord } from '../../../shared/record/mutate.ts';
import {
  damagedText,
  keyText,
  type MemberPieces,
  type ObjectPieces,
  objectPieces,
  textOf,
  valueText,
} from '../../support/arbitrary-json.ts';
import { inWorld } from '../../support/in-world.ts';
import { topLevelTexts } from '../../support/json-tree.ts';
import { layRun } from '../../support/lay-run.ts';
import { type JsonJudge, type Read, startJsonJudge } from '../../support/python-json-judge.ts';

const RUN = '20260801T120001-aaaaaa';
const NEVER = new AbortController().signal;

let python: JsonJudge;
beforeAll(async () => {
  python = await startJsonJudge();
});
afterAll(() => python.stop());

/** Members to set: some of the object's own keys, some new ones; of a key given twice the last value. */
const changing = fc
  .tuple(objectPieces, fc.array(fc.tuple(fc.nat(), keyText, valueText), { minLength: 1, maxLength: 3 }))
  .map(([object, picks]) => {
    const own = object.members.map((member) => member.key);
    const changes = new Map<string, string>();
    for (const [pick, fresh, value] of picks) {
      const known = own[pick % (own.length + 1)];
      changes.set(known ?? (JSON.parse(fresh) as string), value);
    }
    return { object, changes };
  });

describe('setting members of a record', () => {
  it('leaves Python with the same members but for those, in the same places, numbers as they were', async () => {
    await fc.assert(
      fc.asyncProperty(changing, async ({ object, changes }) => {
        const before = textOf(object);
        const after = spliced(before, changes);
        const set = await python.values([...changes.values()]);
        const wanted = [...changes.keys()].map((key, index): [string, Read] => [
          key,
          set[index]?.[0] ?? null,
        ]);
        expect(await python.members(after)).toEqual(withSet(await python.members(before), wanted));
      }),
      { numRuns: 1_500 },
    );
  });

  it('leaves every character outside the values it sets and the members it adds', () => {
    fc.assert(
      fc.property(changing, ({ object, changes }) => {
        const after = spliced(textOf(object), changes);
        const now = topLevelTexts(after);
        const last = new Map(object.members.map((member, index) => [member.key, index]));
        const isSet = (member: MemberPieces, index: number): boolean =>
          changes.has(member.key) && last.get(member.key) === index;
        const kept = object.members
          .map((member, index) => member.lead + (isSet(member, index) ? now.get(member.key) : member.value))
          .join('');
        const adds = [...changes.keys()].some((key) => !last.has(key));
        if (!adds) expect(after).toBe(kept + object.tail);
        else if (object.members.length > 0) expectAround(after, kept, object.tail);
        else expectAround(after, object.tail.slice(0, object.tail.indexOf('{') + 1), afterBrace(object));
      }),
      { numRuns: 3_000 },
    );
  });

  it('does so to the bytes of the file, under the lock', async () => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      const property = fc.asyncProperty(objectPieces, fc.uuid(), async (object, fresh) => {
        const before = textOf(withRunId(object));
        writeFileSync(run.recordFile, before);
        const mutation = await mutateRecord(run.dir, RUN, { waitMs: 0, signal: NEVER }, () => ({
          verdict: null,
          set: new Map<string, Json>([
            ['run_id', RUN],
            ['late_report', fresh],
          ]),
        }));
        expect(mutation).toMatchObject({ kind: 'done', changed: true });
        const wanted = withSet(await python.members(before), [['late_report', fresh]]);
        expect(await python.members(run.text())).toEqual(wanted);
      });
      await fc.assert(property, { numRuns: 200 });
    });
  });

  it('does so in a record of 200,000 members', () => {
    const members = Array.from({ length: 200_000 }, (_, index) => `"key ${index}": ${index}`).join(', ');
    const set = new Map([['finished_at', '"2026-08-01T12:00:00+00:00"']]);
    expect(spliced(`{${members}}`, set)).toBe(`{${members}, "finished_at": "2026-08-01T12:00:00+00:00"}`);
  });

  it.each([
    ['1', true],
    ['true', new JsonNumber('1.0')],
    ['1', new JsonNumber('1e0')],
    [
      '{"a":1,"b":2}',
      new Map([
        ['b', new JsonNumber('2')],
        ['a', new JsonNumber('1')],
      ]),
    ],
    ['"\\u0041"', 'A'],
  ] as [string, Json][])('writes nothing where Python finds no difference: %s', async (stands, set) => {
    await inWorld(async (world) => {
      const run = layRun(world, RUN);
      writeFileSync(run.recordFile, `{"run_id": "${RUN}", "same" :${stands}}`);
      const before = { text: run.text(), ino: statSync(run.recordFile).ino };
      const mutation = await mutateRecord(run.dir, RUN, { waitMs: 0, signal: NEVER }, () => ({
        verdict: null,
        set: new Map([['same', set]]),
      }));
      expect(mutation).toMatchObject({ kind: 'done', changed: false });
      expect({ text: readFileSync(run.recordFile, 'utf8'), ino: statSync(run.recordFile).ino }).toEqual(
        before,
      );
    });
  });
});

describe('what is JSON', () => {
  it('is what Python says, and means what Python reads', async () => {
    const batches = fc.asyncProperty(
      fc.array(damagedText, { minLength: 100, maxLength: 100 }),
      async (texts) => {
        const theirs = await python.values(texts);
        const ours = texts.map(valueOrNull);
        const apart = texts.flatMap((text, index) =>
          JSON.stringify(ours[index]) === JSON.stringify(theirs[index])
            ? []
            : [{ text, ours: ours[index], theirs: theirs[index] }],
        );
        expect(apart).toEqual([]);
      },
    );
    await fc.assert(batches, { numRuns: 150, endOnFailure: true });
  });

  it.each([
    ['4,300 digits', '1'.repeat(4_300)],
    ['4,301 digits', '1'.repeat(4_301)],
    ['minus and 4,300 digits', `-${'1'.repeat(4_300)}`],
    ['4,301 digits with a fraction', `${'1'.repeat(4_301)}.0`],
    ['500 brackets', '['.repeat(500) + ']'.repeat(500)],
    ['100,000 brackets', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['100,000 brackets and no end', '['.repeat(100_000)],
    ['100,000 braces', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a byte order mark', '\ufeff{}'],
    ['a raw lone surrogate', '"\ud800"'],
    ['nothing', ''],
    ['blanks', ' \n'],
  ])('agrees on %s', async (_what, text) => {
    expect([valueOrNull(text) !== null]).toEqual(await python.accepts([text]));
  });
});

function spliced(text: string, changes: ReadonlyMap<string, string>): string {
  const object = parseObjectText(text);
  if (object === null) throw new Error(`not read as an object: ${text}`);
  return spliceMembers(object, new Map([...changes].map(([key, value]) => [key, parseJson(value)])));
}

function withSet(members: [string, Read][], set: readonly [string, Read][]): [string, Read][] {
  const result = [...members];
  for (const [key, value] of set) {
    const at = result.findLastIndex((member) => member[0] === key);
    if (at === -1) result.push([key, value]);
    else result[at] = [key, value];
  }
  return result;
}

function expectAround(text: string, head: string, tail: string): void {
  expect(text.slice(0, head.length)).toBe(head);
  expect(text.slice(text.length - tail.length)).toBe(tail);
  expect(text.length).toBeGreaterThan(head.length + tail.length);
}

function afterBrace(object: ObjectPieces): string {
  return object.tail.slice(object.tail.indexOf('}'));
}

/** The record names its run; a key given twice counts by its last value, so it is put last. */
function withRunId(object: ObjectPieces): ObjectPieces {
  const first = object.members.length === 0;
  const open = object.tail.slice(0, object.tail.indexOf('{') + 1);
  const lead = first ? `${open}"run_id": ` : ',"run_id": ';
  const tail = first ? object.tail.slice(object.tail.indexOf('{') + 1) : object.tail;
  return { members: [...object.members, { lead, key: 'run_id', value: `"${RUN}"` }], tail };
}

function valueOrNull(text: string): [Read] | null {
  try {
    return [asRead(parseJson(text))];
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

function asRead(value: Json): Read {
  if (value instanceof JsonNumber) return { number: value.text };
  if (Array.isArray(value)) return value.map(asRead);
  if (value instanceof Map) return { members: [...value].map(([key, item]) => [key, asRead(item)]) };
  return value;
}
