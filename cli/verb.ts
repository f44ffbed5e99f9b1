import type { Engine } from '../shared/engine.ts';
import type { Jsonable } from '../shared/json/value.ts';
import type { Screen } from './render/screen.ts';

/** A piece of what a verb that stays shows a person as it happens. */
export interface Chunk {
  readonly to: 'stdout' | 'stderr';
  readonly text: string;
}

/** What a verb answers: data for programs, text for people, and an exit status for scripts. */
export interface Answer {
  readonly data: Readonly<Record<string, Jsonable>>;
  /** For a person; only called without `--machine`, which then pays for nothing that lays out a screen. */
  readonly human: (screen: Screen) => string | Promise<string>;
  /** Instead of `human`, for a verb that stays: its return is the exit status. */
  readonly follow?: () => AsyncGenerator<Chunk, number>;
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
  /** This very program, for a run to call when it ends. */
  readonly program: { readonly node: string; readonly main: string };
  readonly env: Readonly<Record<string, string | undefined>>;
}
