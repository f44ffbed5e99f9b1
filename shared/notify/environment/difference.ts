import type { Env } from '../../store/home.ts';

/** Names of variables, sorted; never a value. */
export interface Difference {
  readonly onlyInShell: readonly string[];
  readonly onlyInService: readonly string[];
  readonly different: readonly string[];
}

export function differenceOf(shell: Env, service: Env): Difference {
  const [inShell, inService] = [namesIn(shell), namesIn(service)];
  return {
    onlyInShell: inShell.filter((name) => service[name] === undefined),
    onlyInService: inService.filter((name) => shell[name] === undefined),
    different: inShell.filter((name) => service[name] !== undefined && service[name] !== shell[name]),
  };
}

function namesIn(env: Env): string[] {
  return Object.keys(env)
    .filter((name) => env[name] !== undefined)
    .sort();
}
