import type { Engine } from '../shared/engine.ts';
import type { Jsonable } from '../shared/json/value.ts';
import type { Screen } from './render/screen.ts';

/** A piece of what a verb that stays shows a person as it happens. */
export interface Chunk {
  readonly to: 'stdout' | 'stderr';
  readonly text: string;
  /** From here on the terminal is in a state that must be left however this call ends; null: it was left. */
  readonly holds?: Hold | null;
}

/** What puts a terminal into a state, and back. */
export interface Hold {
  readonly enter: string;
  readonly leave: string;
}

/**
 * A piece at a time, each answered by whether it could be written; the return is the exit status. The screen is
 * asked for again as often as it matters: a person resizes it.
 */
export type Follow = (screen: () => Screen) => AsyncGenerator<Chunk, number, boolean>;

/** What a verb answers: data for programs, text for people, and an exit status for scripts. */
export interface Answer {
  readonly data: Readonly<Record<string, Jsonable>>;
  /** For a person; only called without `--machine`, which then pays for nothing that lays out a screen. */
  readonly human: (screen: Screen) => string | Promise<string>;
  /** After `human`, for a verb that stays. */
  readonly follow?: Follow;
  /** Instead of `human`: a program and its arguments that take over this call's streams and exit status. */
  readonly become?: readonly [string, ...string[]];
  /** Without `--machine`; an envelope always exits 0 (ADR-0106 D8). */
  readonly exitCode?: number;
}

/** Everything a verb may use: it parses, calls the engine and renders; it decides nothing about a run. */
export interface Call {
  readonly open: () => Promise<Engine>;
  /** `--machine` was given: the caller is a program. */
  readonly machine: boolean;
  readonly signal: AbortSignal;
  /** Says something beside the answer, on stderr, now. */
  readonly tell: (line: string) => Promise<unknown>;
  /**
   * Says what a person waits for. Seen only on a terminal and only once it has taken a second; gone before the
   * answer.
   */
  readonly progress: (text: string) => void;
  /** This very program, for a run to call when it ends. */
  readonly program: { readonly node: string; readonly main: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: () => string;
}
