import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  codeSpans,
  documentAt,
  documents,
  fencesOf,
  type Section,
  sectionsOf,
} from '../support/documents.ts';
import { type HelpedVerb, verbsOf } from '../support/help.ts';
import { makeWorld, type World } from '../support/world.ts';

const OPTION = /(?<![\w-])--[a-z][a-z-]*/g;
const EVERYWHERE = ['--machine', '--help', '--version'];
const sections = sectionsOf(documentAt('docs/contract.md'), 3);

let world: World;
let verbs: HelpedVerb[];

beforeAll(async () => {
  world = await makeWorld();
  verbs = await verbsOf(world);
});

afterAll(async () => {
  await world.dispose();
});

describe('the contract names the verbs and options there are', () => {
  it('every verb has its section, or is named in that of submit, whose options it shares', () => {
    expect(verbs.length).toBeGreaterThan(15);
    expect(verbs.filter(({ verb }) => sectionsFor(verb).length !== 1).map(({ verb }) => verb)).toEqual([]);
  });

  it('every option of a verb is in its section', () => {
    const missing = verbs.flatMap(({ verb, options }) => {
      const text = sectionsFor(verb)
        .map(({ heading, body }) => heading + body)
        .join();
      const named = new Set(text.match(OPTION) ?? []);
      return options.filter((option) => !named.has(option)).map((option) => `${verb} ${option}`);
    });
    expect(missing).toEqual([]);
  });

  it('every option in the heading of a section is one of its verb', () => {
    const unknown = sections.flatMap(({ heading }) => {
      const named = /lion ([a-z ]*[a-z])/.exec(heading)?.[1] ?? '';
      const options = verbs.find(({ verb }) => verb === named)?.options ?? [];
      return (heading.match(OPTION) ?? [])
        .filter((option) => !options.includes(option))
        .map((option) => `${named} ${option}`);
    });
    expect(unknown).toEqual([]);
  });

  it('every verb has an example in its help, of itself', () => {
    const without = verbs.filter(
      ({ verb, text }) => !(text.split(/^Examples?:$/m)[1] ?? '').includes(`lion ${verb}`),
    );
    expect(without.map(({ verb }) => verb).filter((verb) => verb !== 'handshake')).toEqual([]);
  });
});

describe('all documents', () => {
  it('name no verb and no option that does not exist', () => {
    const options = new Set([...EVERYWHERE, ...verbs.flatMap((each) => each.options)]);
    const faults = [...documents()].flatMap(([path, text]) =>
      commandsIn(path, text).flatMap((command) => {
        const known =
          verbs.some(({ verb }) => `${command} `.startsWith(`lion ${verb} `)) ||
          /^lion( --?\w+| [A-Z[<]| complete |$)/.test(command);
        const group = verbs.some(({ verb }) => verb.startsWith(`${/^lion ([a-z]+)/.exec(command)?.[1]} `));
        const bad = (command.split(' -- ')[0]?.match(OPTION) ?? []).filter((option) => !options.has(option));
        return [...(known || (group && /^lion [a-z]+( \||$)/.test(command)) ? [] : [command]), ...bad].map(
          (each) => `${path}: ${each}`,
        );
      }),
    );
    expect(faults).toEqual([]);
  });
});

function sectionsFor(verb: string): Section[] {
  const own = sections.filter(({ heading }) => new RegExp(`\`lion ${verb}[\` ]`).test(heading));
  if (own.length > 0) return own;
  return sections.filter(
    ({ heading, body }) => heading.includes('lion job submit') && body.includes(`\`lion ${verb}\``),
  );
}

/** What is typed of ours, in fences and between backticks: each from `lion` to its end. */
function commandsIn(path: string, text: string): string[] {
  const lines = fencesOf(path, text)
    .filter(({ info }) => info !== 'mermaid')
    .flatMap((fence) => fence.text.split('\n').map((line) => line.split('#')[0]?.trim() ?? ''));
  return [...codeSpans(text), ...lines.flatMap((line) => line.replace(/^\$ /, '').split(/&&|\|\||;|\|(?! )/))]
    .map((each) => each.trim())
    .filter((each) => /^lion( |$)/.test(each));
}
