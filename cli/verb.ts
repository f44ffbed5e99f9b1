import type { Engine } from '../shared/engine.ts';
import type { Jsonable } from '../shared/json/value.ts';
import type { Screen } from './render/screen.ts';

/** What a verb answers: data for programs, text for people, and an exit status for scripts. */
export interface Answer {
  readonly data: Readonly<Record<string, Jsonable>>;
  /** For a person; only called without `--machine`. */
  readonly human: (screen: Screen) => string;
  /** Without `--machine`; an envelope always exits 0 (ADR-0106 D8). */
  readonly exitCode?: number;
}

/** Everything a verb may use: it parses, calls the engine and renders; it decides nothing about a run. */
export interface Call {
  readonly open: () => Promise<Engine>;
  /** `--machine` was given: the caller is a program. */
  readonly machine: boolean;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
}
