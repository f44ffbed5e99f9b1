import { homeOf } from '../shared/store/home.ts';
import { listRunNames } from '../shared/store/names.ts';
import type { Call } from './verb.ts';

/** A mistyped id is one of a run somebody has just seen. */
const NEWEST = 5_000;
const MOST = 5;

/** Runs whose id, or the end of it that people type, is a slip or two away from a text. */
export function nearRuns({ env, cwd }: Pick<Call, 'env' | 'cwd'>, text: string): string[] {
  try {
    return nearNames(listRunNames(homeOf(env, cwd()).jobsDir).slice(0, NEWEST), text);
  } catch {
    // It is an addition to a fault that is told without it.
    return [];
  }
}

export function nearNames(names: readonly string[], text: string): string[] {
  const typed = text.toLowerCase();
  const isNear = (id: string): boolean => {
    const name = id.toLowerCase();
    const slips = name.length > 8 ? 2 : 1;
    return Math.abs(name.length - typed.length) <= slips && distance(name, typed) <= slips;
  };
  return names.filter((name) => isNear(name) || isNear(name.split('-').at(-1) ?? name)).slice(0, MOST);
}

/** Characters put in, left out, replaced, or typed in each other's place. */
function distance(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      }
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
