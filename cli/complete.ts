/** What may come next on a command line, read off the verbs themselves, so that no list of them can be out of date. */
import type { Argument, Command, Option } from 'commander';

export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** The place on the line that is to be filled. */
interface Place {
  readonly command: Command;
  /** An option that still needs its value. */
  readonly awaits: Option | null;
  /** Words given to the verb itself. */
  readonly given: readonly string[];
  /** After a `--`: all of it is the verb's. */
  readonly isLiteral: boolean;
}

/** Taken off the line before it is parsed, so no verb knows it. */
const MACHINE: Candidate = { word: '--machine', description: 'one JSON envelope on stdout' };

/**
 * @param words after the program's name; the last one is being typed, and may be empty.
 * @param runIds names runs that begin with a text; asked only where a run may stand.
 * @returns nothing where files may stand, or nothing is known.
 */
export function candidatesFor(
  program: Command,
  words: readonly string[],
  runIds: (prefix: string) => readonly string[],
): Candidate[] {
  const typed = words.at(-1) ?? '';
  const place = placeOf(program, words.slice(0, -1));
  return mayStand(place, typed, runIds).filter(({ word }) => word.startsWith(typed));
}

function mayStand(
  place: Place,
  typed: string,
  runIds: (prefix: string) => readonly string[],
): readonly Candidate[] {
  const { command, awaits, given, isLiteral } = place;
  if (awaits !== null) {
    const name = /[<[](\w+)/.exec(awaits.flags)?.[1] ?? '';
    return valuesOf(name, awaits.argChoices, [], typed, runIds);
  }
  if (typed.startsWith('-') && !isLiteral) return optionsOf(command);
  const argument = argumentAt(command, given.length);
  const values =
    argument === undefined ? [] : valuesOf(argument.name(), argument.argChoices, given, typed, runIds);
  const verbs = given.length === 0 ? verbsOf(command) : [];
  const found = [...verbs, ...values];
  return found.length === 0 && argument === undefined && !isLiteral ? optionsOf(command) : found;
}

function placeOf(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, awaits: null, given: [], isLiteral: false };
  for (const word of words) place = after(place, word);
  return place;
}

function after(place: Place, word: string): Place {
  const { command, given } = place;
  if (place.awaits !== null) return { ...place, awaits: null };
  if (place.isLiteral) return { ...place, given: [...given, word] };
  if (word === '--') return { ...place, isLiteral: true };
  if (word.startsWith('-')) {
    const option = command.options.find(({ short, long }) => word === short || word === long);
    return option?.required === true ? { ...place, awaits: option } : place;
  }
  const verb = given.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
  return verb === undefined ? { ...place, given: [...given, word] } : { ...place, command: verb };
}

function argumentAt({ registeredArguments }: Command, at: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[at] ?? (last?.variadic === true ? last : undefined);
}

function valuesOf(
  name: string,
  choices: readonly string[] | undefined,
  given: readonly string[],
  typed: string,
  runIds: (prefix: string) => readonly string[],
): Candidate[] {
  const words = name === 'run' ? runIds(typed) : (choices ?? []);
  return words.filter((word) => !given.includes(word)).map((word) => ({ word, description: '' }));
}

function verbsOf(command: Command): Candidate[] {
  const verbs = command.createHelp().visibleCommands(command);
  return verbs.map((verb) => ({ word: verb.name(), description: verb.description() }));
}

function optionsOf(command: Command): Candidate[] {
  const options = command.createHelp().visibleOptions(command);
  return [
    ...options.map(({ long, short, description }) => ({ word: long ?? short ?? '', description })),
    MACHINE,
  ];
}
