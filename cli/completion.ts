import type { Command } from 'commander';
import { LionError } from '../shared/contract/errors.ts';
import { homeOf } from '../shared/store/home.ts';
import { listRunNames } from '../shared/store/names.ts';
import { candidatesFor } from './complete.ts';
import type { Answer, Call } from './verb.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** `lion completion SHELL`: a text for the shell to read. It knows no verb itself: it asks `lion complete`. */
export function completion(shell: Shell): Answer {
  const script = SCRIPTS[shell];
  return { data: { shell, script }, human: () => script };
}

const NEWEST_RUNS = 50;

/**
 * `lion complete -- WORD...`: what may stand in the place of the last word, a line each, with what it is after a
 * tab. From names alone: no record is read, nothing is written, and what goes wrong is no candidate.
 */
export function complete(call: Call, program: Command, words: readonly string[]): Answer {
  const candidates = candidatesFor(program, words, (prefix) => newestRuns(call, prefix));
  return {
    data: { candidates: candidates.map(({ word, description }) => ({ word, description })) },
    human: () =>
      candidates
        .map(({ word, description }) => (description === '' ? `${word}\n` : `${word}\t${description}\n`))
        .join(''),
  };
}

function newestRuns({ env, cwd }: Call, prefix: string): string[] {
  try {
    return listRunNames(homeOf(env, cwd()).jobsDir)
      .filter((name) => name.startsWith(prefix) && isPlain(name))
      .slice(0, NEWEST_RUNS);
  } catch (error) {
    if (error instanceof LionError) return [];
    throw error;
  }
}

/** Anything else is no name of ours, and a shell would have to be told how to quote it. */
function isPlain(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name);
}

const BASH = `# Completion of lion for bash. For each new shell, in ~/.bashrc:
#   eval "$(lion completion bash)"
_lion_complete() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$2" 2>/dev/null)
}
complete -o bashdefault -o default -F _lion_complete lion
`;

const ZSH = `#compdef lion
# Completion of lion for zsh. For each new shell, in ~/.zshrc after compinit:
#   eval "$(lion completion zsh)"
_lion() {
  local line
  local -a before found
  (( CURRENT > 2 )) && before=("\${(@)words[2,CURRENT-1]}")
  while IFS= read -r line; do
    line="\${line//:/\\\\:}"
    found+=("\${line/$'\\t'/:}")
  done < <("\${words[1]}" complete -- "\${before[@]}" "$PREFIX" 2>/dev/null)
  if (( \${#found} )); then
    _describe -V lion found
  else
    _files
  fi
}
if [[ "\${funcstack[1]}" = _lion ]]; then
  _lion "$@"
else
  compdef _lion lion
fi
`;

const FISH = `# Completion of lion for fish. Once:
#   lion completion fish > ~/.config/fish/completions/lion.fish
function __lion_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l typed (commandline -ct)
    set -l found ($program complete -- $words "$typed" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path "$typed"
    end
end
complete -c lion -k -f -a '(__lion_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
