import { runLion } from './lion.ts';
import type { World } from './world.ts';

export interface HelpedVerb {
  /** `job list`. */
  readonly verb: string;
  /** As they are typed: `--limit`, `--no-index`. */
  readonly options: readonly string[];
  readonly text: string;
}

/** Every verb of the built program that does something, as its own help tells. */
export async function verbsOf(world: World, path: readonly string[] = []): Promise<HelpedVerb[]> {
  const { stdout: text } = await runLion([...path, '--help'], world);
  const below = itemsOf(text, 'Commands').filter((name) => name !== 'help');
  if (below.length > 0)
    return (await Promise.all(below.map((name) => verbsOf(world, [...path, name])))).flat();
  const options = itemsOf(text, 'Options').filter((name) => !['--help', '--version'].includes(name));
  return [{ verb: path.join(' '), options, text }];
}

/** The first words of a paragraph of the help; of an option, its long name. */
function itemsOf(text: string, title: string): string[] {
  const paragraph = text.split(/\n\n/).find((each) => each.startsWith(`${title}:\n`)) ?? '';
  return [...paragraph.matchAll(/^ {2}(?:-\w, )?([\w-]+)/gm)].map(([, name]) => name ?? '');
}
