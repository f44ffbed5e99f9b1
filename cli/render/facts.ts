import { paint, type Screen } from './screen.ts';

/** Named facts about one thing, a line each; those with nothing to say are left out. */
export function facts(screen: Screen, lines: readonly (readonly [name: string, text: string])[]): string {
  const shown = lines.filter(([, text]) => text !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, text]) => `${paint(screen, 'dim', name.padEnd(width))}  ${text}\n`).join('');
}
