import { fileURLToPath } from 'node:url';
import { type PythonLines, startPythonLines } from './python-lines.ts';

const PROGRAM = fileURLToPath(new URL('./python_writer.py', import.meta.url));

/** What `python_writer.py` can be told; the answers are described there. */
export type PythonCommand = { readonly delay_s?: number } & (
  | { readonly do: 'increment'; readonly run_dir: string; readonly key: string; readonly times: number }
  | { readonly do: 'hold'; readonly run_dirs: readonly string[] }
  | { readonly do: 'release' }
  | { readonly do: 'merge'; readonly run_dir: string; readonly set: Readonly<Record<string, unknown>> }
  | { readonly do: 'reap'; readonly run_dir: string; readonly by: string }
  | {
      readonly do: 'observe';
      readonly run_dirs: readonly string[];
      readonly name: string;
      readonly seed: number;
      readonly passes: number;
      /** On average, before each run. */
      readonly pause_s: number;
      readonly shuffled: boolean;
      /** That it tries to end the run it is at. */
      readonly reap_chance: number;
    }
  | { readonly do: 'watch'; readonly run_dir: string }
  | { readonly do: 'unwatch'; readonly run_dir: string }
);

export interface Observed {
  /** Directories of the runs it ended. */
  won: string[];
  /** Ends that changed after they were seen: directory, before, after. */
  changed: unknown[];
  writes: number;
}

/** A real Python process that writes records as the engine that shares the store does. */
export interface PythonWriter extends Omit<PythonLines, 'ask'> {
  ask<T = unknown>(command: PythonCommand): Promise<T>;
}

export function startPythonWriter(): Promise<PythonWriter> {
  return startPythonLines(PROGRAM);
}
