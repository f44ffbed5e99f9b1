import type { Jsonable } from '../../shared/json/value.ts';

export type Command = readonly [program: string, ...args: string[]];

/** One thing to be done, and how it is undone should a later one fail. */
export type Step =
  | {
      readonly kind: 'write';
      readonly path: string;
      readonly content: string;
      /** What is there now; null: nothing. It is put back. */
      readonly before: string | null;
      /** Run once that is back. */
      readonly afterUndo: readonly Command[];
    }
  | { readonly kind: 'remove'; readonly path: string }
  | {
      readonly kind: 'run';
      readonly command: Command;
      readonly timeoutMs: number;
      /** Exit statuses beside 0 that mean: it is so already. */
      readonly fine?: readonly number[];
      readonly undo?: Command;
      /** This exit status passes by itself. */
      readonly again?: { readonly exitCode: number; readonly times: number; readonly pauseMs: number };
      /** What a person does when it fails. */
      readonly cure?: string;
    }
  | {
      readonly kind: 'check';
      readonly command: Command;
      readonly timeoutMs: number;
      /** In words, what has to hold, for the error that says that it does not. */
      readonly what: string;
      readonly holds: (exitCode: number, stdout: string) => boolean;
      /** Asked again until then. */
      readonly withinMs: number;
      readonly undo?: Command;
      readonly cure?: string;
    };

/** `result` in one word, as it is when all steps are done; no steps: nothing is to be done. */
export interface Plan {
  readonly result: 'installed' | 'healed' | 'unchanged' | 'uninstalled' | 'started' | 'stopped' | 'restarted';
  readonly steps: readonly Step[];
  readonly notes: readonly string[];
}

/** A step for a program. */
export function stepData(step: Step): { readonly [key: string]: Jsonable } {
  switch (step.kind) {
    case 'write':
      return { do: 'write', path: step.path, content: step.content };
    case 'remove':
      return { do: 'remove', path: step.path };
    case 'run':
      return { do: 'run', argv: [...step.command] };
    case 'check':
      return { do: 'check', argv: [...step.command], what: step.what };
  }
}

/** For a person to read, and to give to a shell. */
export function commandText(command: Command): string {
  return command
    .map((word) => (/^[\w/.:=,+@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`))
    .join(' ');
}
