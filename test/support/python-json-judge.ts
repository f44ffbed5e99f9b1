import { fileURLToPath } from 'node:url';
import { startPythonLines } from './python-lines.ts';

const PROGRAM = fileURLToPath(new URL('./python_json_judge.py', import.meta.url));

/** A value as Python's json reads it, nothing rounded and nothing moved. */
export type Read = null | boolean | string | Read[] | { number: string } | { members: [string, Read][] };

export interface JsonJudge {
  accepts(texts: readonly string[]): Promise<boolean[]>;
  /** Null where Python refuses the text; of duplicate keys the first place and the last value. */
  values(texts: readonly string[]): Promise<([Read] | null)[]>;
  /** Of the outermost object, in the order of the text, duplicates included. */
  members(text: string): Promise<[string, Read][]>;
  stop(): Promise<void>;
}

export async function startJsonJudge(): Promise<JsonJudge> {
  const python = await startPythonLines(PROGRAM);
  return {
    accepts: (texts) => python.ask({ do: 'accepts', texts }),
    values: (texts) => python.ask({ do: 'values', texts }),
    members: (text) => python.ask({ do: 'members', text }),
    stop: python.stop,
  };
}
